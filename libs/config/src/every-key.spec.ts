import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import {
  configKeys,
  explainMigration,
  findConfigKeys,
  maskedSettings,
  mergeConfig,
  parseConfig,
} from './index.js';
import { maskedValue } from './explain/config-keys.js';
import { foldKey } from './parse/key-spelling.js';
import { FILE_SCHEMA } from './schema/file-schema.js';
import { bareSchema, entryOf, fieldsOf, notationOf } from './schema/notation.js';
import { count, flag, list, section, someText } from './schema/value-schemas.js';

/** Values of all kinds. A key uses those that its schema accepts. */
const SAMPLES: readonly unknown[] = [
  true,
  false,
  3,
  77,
  1000,
  100_000,
  2_000_000,
  2 ** 30,
  'canary',
  'c:/canary b',
  '/opt/canary',
  'canary-v1.2.3',
  'ab'.repeat(32),
  '0c'.repeat(32),
  '10.42.0.0/16',
  '169.254.169.254',
  '127.0.0.1:9797',
  '[::1]:80',
  'http://127.0.0.1:4318',
  'administrators',
  'user:7',
  'container:*',
  'NAME',
  'KUBE_*',
  'aws',
  'gce',
  'tcp',
  'udp',
  '10.42.0.9',
  'none',
  'watching',
  'copy',
  'listed',
  'SIGINT',
  'always',
  [['-v', { port: true }], ['canary']],
  [[]],
  '1.3.6.1.4.1.311.97.1',
  { NAME: 'canary', EMPTY: '' },
  { OTHER: 'a canary' },
];
const ADDRESS = 'https://host/%s?token=canary';

const keys = configKeys('linux').map(({ key }) => key);
const leaves = keys.filter((key) => !keys.some((other) => /^(\[\])?\./.test(beyond(other, key))));

/** Returns the part of `key` after `above`; empty if `above` is no prefix. */
function beyond(key: string, above: string): string {
  return key.startsWith(above) ? key.slice(above.length) : '';
}

function schemaOf(key: string): z.core.$ZodType {
  return key.split('.').reduce<z.core.$ZodType>((schema, word) => {
    const inside = fieldsOf(schema)?.get(word.replace('[]', ''));
    return (word.endsWith('[]') ? inside && entryOf(inside) : inside) ?? FILE_SCHEMA;
  }, FILE_SCHEMA);
}

function accepts(schema: z.core.$ZodType, value: unknown): boolean {
  return z.safeParse(schema, value).success;
}

function valueOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const fields = fieldsOf(schema);
  if (fields !== undefined)
    return fc.record(Object.fromEntries([...fields].map(([key, field]) => [key, valueOf(field)])));
  const entry = entryOf(schema);
  if (entry !== undefined)
    return fc.uniqueArray(valueOf(entry), {
      minLength: 1,
      maxLength: 2,
      selector: (item) => JSON.stringify(item),
    });
  if (notationOf(bareSchema(schema)).shown === 'address' && accepts(schema, ADDRESS))
    return fc.constant(ADDRESS);
  return fc.constantFrom(...SAMPLES.filter((sample) => accepts(schema, sample)));
}

const complete = valueOf(FILE_SCHEMA).filter((file) => {
  const { listen, proxy } = file as { readonly listen: unknown; readonly proxy: unknown };
  return listen !== proxy && accepts(FILE_SCHEMA, file);
});

/** Returns the values at `key`, one for each entry of the lists on its path. Keys match in any spelling. */
function valuesAt(root: unknown, key: string): readonly unknown[] {
  return key.split('.').reduce<readonly unknown[]>(
    (values, word) =>
      values.flatMap((value) => {
        const wanted = foldKey(word.replace('[]', ''));
        const [, found] =
          Object.entries(value as Readonly<Record<string, unknown>>).find(
            ([name]) => foldKey(name) === wanted,
          ) ?? [];
        return word.endsWith('[]') ? found : [found];
      }),
    [root],
  );
}

/** Returns the values at several keys, so that one comparison shows all differences. */
function allAt(root: unknown, of: readonly string[] = keys): Readonly<Record<string, unknown>> {
  return Object.fromEntries(of.map((key) => [key, valuesAt(root, key)]));
}

function read(text: string) {
  return parseConfig(text, { strict: true, platform: 'linux' });
}

/** Returns a section with its required keys only. */
function least(schema: z.core.$ZodType): Record<string, unknown> {
  const required = [...(fieldsOf(schema) ?? [])].filter(
    ([key, field]) => !accepts(z.object({ [key]: field }), {}),
  );
  return Object.fromEntries(required.map(([key, field]) => [key, leastOf(field)]));
}

function leastOf(schema: z.core.$ZodType): unknown {
  if (fieldsOf(schema) !== undefined) return least(schema);
  const entry = entryOf(schema);
  return entry === undefined ? SAMPLES.find((sample) => accepts(schema, sample)) : [leastOf(entry)];
}

/** Returns a config that has the section of a key, but not the key. */
function configWithout(key: string): Record<string, unknown> {
  const words = key.split('.');
  const last = words.pop() ?? '';
  const config = {};
  let [section, schema]: [Record<string, unknown>, z.core.$ZodType] = [config, FILE_SCHEMA];
  for (const word of words) {
    const field = fieldsOf(schema)?.get(word.replace('[]', '')) ?? FILE_SCHEMA;
    schema = entryOf(field) ?? field;
    const inner = least(schema);
    section[word.replace('[]', '')] = word.endsWith('[]') ? [inner] : inner;
    section = inner;
  }
  Reflect.deleteProperty(section, last);
  return config;
}

/** Returns the defaults in the lists of docs/config.md. */
function pageDefaults(): ReadonlyMap<string, string> {
  const page = readFileSync(path.join(__dirname, '../../../docs/config.md'), 'utf8');
  const defaults = new Map<string, string>();
  let above = '';
  for (const line of page.split('\n')) {
    if (line.startsWith('### ')) above = /^### `(.*)`$/.exec(line)?.[1]?.concat('.') ?? '';
    const [, key, notes = ''] = /^- `(\S+)` \((.*?)\): /.exec(line) ?? [];
    const [, shown = ''] = /(?:^|; )(?:default `(.*?)`|required)/.exec(notes) ?? [];
    if (key !== undefined)
      defaults.set(`${above}${key}`, notes.includes('required') ? 'required' : shown);
    const [, names = '', section = ''] = /^- (`.*`): as in \[`(.*)`\]\(/.exec(line) ?? [];
    for (const [, name = ''] of names.matchAll(/`(.*?)`/g))
      defaults.set(`${above}${name}`, defaults.get(`${section}.${name}`) ?? 'missing');
  }
  return defaults;
}

/** Returns a default as docs/config.md shows it. */
function shownDefault(value: unknown): string {
  const text = JSON.stringify(value ?? '').replaceAll('"', '');
  return text === '[]' || text === '{}' ? 'empty' : text;
}

describe('a key of the config', () => {
  it('is explained, and told with its location in a file that has every key there is', () => {
    expect(keys.map((key) => findConfigKeys(key).keys[0]?.key)).toEqual(keys);
    fc.assert(
      fc.property(complete, (file) => {
        const { origins } = read(JSON.stringify(file));
        const set = origins
          .filter(({ origin }) => origin !== 'default')
          .map(({ key }) => key.replace(/\[\d+\]/g, '[]'));
        const isTold = (key: string) =>
          set.some((each) => each.startsWith(key) || key.startsWith(each));
        expect(keys.filter((key) => !isTold(key))).toEqual([]);
      }),
      { numRuns: 8 },
    );
  });

  it('reaches the daemon with its value, also when two files are merged', () => {
    fc.assert(
      fc.property(complete, (file) => {
        const text = JSON.stringify(file);
        const { config } = read(text);
        expect(allAt(config)).toEqual(allAt(file));
        expect(read(mergeConfig('debug: false\n', text).text).config).toEqual(config);
      }),
      { numRuns: 8 },
    );
  });

  it('has the default of docs/config.md in a config without it', () => {
    const onPage = pageDefaults();
    const rowOf = (key: string) => onPage.get(key);
    const parsed = new Map<string, unknown>();
    const configOf = (text: string): unknown => {
      if (!parsed.has(text)) parsed.set(text, parseConfig(text, { platform: 'linux' }).config);
      return parsed.get(text);
    };
    const meanings = new Map(configKeys('linux').map(({ key, meaning }) => [key, meaning]));
    const defaultOf = (key: string): string | undefined => {
      const text = JSON.stringify(configWithout(key));
      if (rowOf(key) === 'required') {
        const missing = `${key.replace('[]', '[0]')}: found nothing`;
        expect(() => parseConfig(text)).toThrow(missing);
        return 'required';
      }
      const [value] = valuesAt(configOf(text), key);
      const shown = shownDefault(value);
      if (rowOf(key) !== '') return shown;
      // The page describes paths in words. An empty list needs no words.
      return shown === 'empty' || meanings.get(key)?.includes(shown) === true ? '' : shown;
    };
    expect(Object.fromEntries(leaves.map((key) => [key, defaultOf(key)]))).toEqual(
      Object.fromEntries(leaves.map((key) => [key, rowOf(key)])),
    );
  });

  it('is kept with its value in the list for those who come from an earlier release', () => {
    const granted = keys.filter((key) => /^(white_list|processEnvironment|routes)\b/.test(key));
    expect(granted.length).toBeGreaterThan(10);
    fc.assert(
      fc.property(complete, (file) => {
        const { config } = read(explainMigration(read(JSON.stringify(file)).config));
        expect(allAt(config, granted)).toEqual(allAt(file, granted));
      }),
      { numRuns: 8 },
    );
  });

  const shownOf = (key: string) => notationOf(bareSchema(schemaOf(key))).shown;
  const texts = leaves.filter((key) => {
    const inside = bareSchema(schemaOf(key));
    const one = entryOf(inside) ?? inside;
    return ![z.ZodMiniBoolean, z.ZodMiniNumber, z.ZodMiniEnum].some((type) => one instanceof type);
  });
  const masked = texts.filter((key) => shownOf(key) !== 'all');
  const plain = leaves.filter((key) => !masked.includes(key));
  const withoutSecrets = (address: string) => address.replace(/\?.*/, '');

  it('is shown in a support bundle as far as it declares', () => {
    fc.assert(
      fc.property(complete, (file) => {
        const { config } = read(JSON.stringify(file));
        const shown = maskedSettings(config, withoutSecrets);
        expect(JSON.stringify(allAt(shown, masked))).not.toContain('canary');
        expect(allAt(shown, plain)).toEqual(allAt(file, plain));
      }),
      { numRuns: 8 },
    );
  });

  it('is hidden in a support bundle if it is a text that declares nothing, at any depth', () => {
    const schema = section({
      added: z.optional(someText('a text')),
      words: list(someText('a word'), 'words'),
      named: z.record(z.string(), z.string()),
      either: z.union([z.literal('none'), z.string()]),
      inner: list(section({ added: someText('a text'), size: count('bytes', 9) }), 'parts'),
      mode: z.enum(['none', 'watching']),
      isOn: flag(),
    });
    const value = {
      added: 'canary',
      words: ['canary'],
      named: { canary: 'canary' },
      either: 'canary',
      inner: [{ added: 'canary', size: 3 }],
      mode: 'watching',
      isOn: true,
    };
    expect(schema.parse(value)).toEqual(value);
    const shown = JSON.stringify(maskedValue(schema, value, withoutSecrets));
    expect(JSON.parse(shown)).toEqual({
      words: [null],
      inner: [{ size: 3 }],
      mode: 'watching',
      isOn: true,
    });
  });

  it('is never shown whole if it is a secret', () => {
    const secrets = leaves.filter((key) => notationOf(bareSchema(schemaOf(key))).isSecret === true);
    expect(secrets).toContain('processEnvironment');
    expect(secrets.filter((key) => !masked.includes(key))).toEqual([]);
  });
});

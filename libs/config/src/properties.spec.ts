import fc from 'fast-check';
import { type ConfigChanges, editConfig, parseConfig } from './index.js';

/** Cases of each property; other ones in each run. The fuzzer of `tools/fuzz` tries many more texts. */
const RUNS = { numRuns: 40 };

// Names and paths, with characters that are special in YAML, JSON and scripts.
const text = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom(...'aZ0 \\/:#"\'{}[],&*!|>%@`-?~é$'.split('')),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    ),
    minLength: 1,
    maxLength: 20,
  })
  .filter((value) => /^(?=.*\S)[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]*$/u.test(value));
const digest = fc.string({
  unit: fc.constantFrom(...'0123456789abcdef'.split('')),
  minLength: 64,
  maxLength: 64,
});
const entry = fc.record(
  {
    path: text,
    sha256: fc.array(digest, { minLength: 1, maxLength: 2 }),
    envs: fc.array(fc.stringMatching(/^[A-Z_]{1,5}$/), { maxLength: 2 }),
  },
  { requiredKeys: ['path'] },
);
const paths = fc.array(fc.oneof(text, entry), { maxLength: 4 });
const ports = fc.array(fc.integer({ min: 1, max: 65535 }), { maxLength: 4 });

const file = fc.record(
  {
    debug: fc.boolean(),
    listen: text,
    proxy: text.map((name) => `proxy ${name}`), // differs from `listen`
    white_list: fc.record({ processPaths: paths, proxyPorts: ports }, { requiredKeys: [] }),
    systemagent: fc.record(
      { workDirectory: text, localEnabled: fc.boolean() },
      { requiredKeys: [] },
    ),
    'tls-config': fc.record({ insecure: fc.boolean() }, { requiredKeys: [] }),
    agentStrictTLSMode: fc.boolean(),
    custom: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: [] },
);

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const changes: fc.Arbitrary<ConfigChanges> = fc.record(
  {
    debug: optional(fc.boolean()),
    listen: optional(text),
    'white_list.processPaths': optional(paths),
    'white_list.proxyPorts': optional(ports),
    'systemagent.workDirectory': optional(text),
    'tls-config': fc.constant(null),
  },
  { requiredKeys: [] },
);

/** A file as people write it: block YAML with comments, or JSON with any indentation. */
const written = fc
  .tuple(
    file,
    fc.constantFrom('yaml', 'flow', '', ' ', '\t'),
    fc.constantFrom('\n', '\r\n', '\r', '\r\r\n', '\u0085'),
  )
  .map(([value, form, lineEnd]) => {
    const lines =
      form === 'yaml'
        ? `# head\n${blockText(value, '')}# tail\n`
        : JSON.stringify(value, null, form === 'flow' ? 2 : form);
    return lines.replace(/\n/g, lineEnd);
  });

function blockText(value: object, indent: string): string {
  return Object.entries(value)
    .map(([key, item]: [string, unknown]) => {
      if (Array.isArray(item) && item.length > 0 && key !== 'custom')
        return `${indent}${key}: # list\n${item.map((each) => `${indent}- ${JSON.stringify(each)} # entry\n`).join('')}`;
      if (
        typeof item === 'object' &&
        item !== null &&
        !Array.isArray(item) &&
        Object.keys(item).length > 0 &&
        key !== 'custom'
      )
        return `${indent}${key}:\n${indent}  # section\n${blockText(item, `${indent}  `)}`;
      return `${indent}${key}: ${JSON.stringify(item)} # value\n`;
    })
    .join('');
}

function valuesOf(source: string): Map<string, unknown> {
  return new Map(parseConfig(source).origins.map(({ key, value }) => [key, value]));
}

it('accepts every valid file, in each form with the same result', () => {
  fc.assert(
    fc.property(file, (value) => {
      const json = parseConfig(JSON.stringify(value));
      expect(parseConfig(blockText(value, '')).config).toEqual(json.config);
      expect(parseConfig(JSON.stringify(value, null, '\t')).config).toEqual(json.config);
      expect(json.config.listen).toBe(value.listen ?? 'rancher_wins');
      expect(json.config.whiteList.processPaths.map(({ path }) => path)).toEqual(
        (value.white_list?.processPaths ?? []).map((item) =>
          typeof item === 'string' ? item : item.path,
        ),
      );
    }),
    RUNS,
  );
});

it('gives after saving what was asked for, and every other value as it was', () => {
  fc.assert(
    fc.property(written, changes, (source, wanted) => {
      const before = valuesOf(source);
      const saved = editConfig(source, wanted);
      const { config } = parseConfig(saved);
      expect(editConfig(saved, wanted)).toBe(saved);

      const lists = {
        processPaths: config.whiteList.processPaths,
        proxyPorts: config.whiteList.proxyPorts,
      };
      for (const [path, value] of Object.entries(wanted)) {
        if (path === 'debug') expect(config.debug).toBe(value ?? false);
        if (path === 'listen') expect(config.listen).toBe(value ?? 'rancher_wins');
        if (path === 'systemagent.workDirectory')
          expect(config.systemAgent?.workDirectory).toBe(value ?? undefined);
        if (path === 'tls-config') expect(config.tlsConfig).toBeUndefined();
        if (path === 'white_list.proxyPorts')
          expect(lists.proxyPorts).toEqual([...new Set(value as number[] | null)]);
        if (path === 'white_list.processPaths')
          expect(lists.processPaths).toEqual(
            ((value ?? []) as (string | { path: string })[]).map((item) => ({
              sha256: [],
              envs: [],
              directories: [],
              ...(typeof item === 'string' ? { path: item } : item),
            })),
          );
      }
      const sections = Object.keys(wanted).map((path) => path.split('.')[0] ?? path);
      const after = valuesOf(saved);
      const others = [...after.keys()].filter(
        (key) => !sections.some((section) => key.startsWith(section)),
      );
      expect(others.map((key) => [key, after.get(key)])).toEqual(
        others.map((key) => [key, before.get(key)]),
      );
    }),
    RUNS,
  );
});

it('keeps every comment, and what it does not know', () => {
  fc.assert(
    fc.property(file, ports, (value, wanted) => {
      const source = `# head\n${blockText(value, '')}# tail\n`;
      const saved = editConfig(source, {
        'white_list.proxyPorts': wanted,
        agentStrictTLSMode: true,
      });
      for (const line of source.split('\n').filter((each) => /^ *#|^custom:/.test(each)))
        expect(saved).toContain(line);
    }),
    RUNS,
  );
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configJsonSchema, parseConfig } from '../index.js';

interface Schema {
  readonly $schema?: string;
  readonly type?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly additionalProperties?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly pattern?: string;
}

const schema = configJsonSchema() as Schema;

it('is a closed JSON Schema of draft 2020-12', () => {
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
  expect(JSON.stringify(schema)).not.toMatch(/shorthand|strictKeys|asWritten/);
});

it('knows the keys of the canonical spelling, with the defaults that parsing gives', () => {
  const { origins } = parseConfig('', { platform: 'linux' });
  for (const { key, value } of origins) {
    const found = key
      .split('.')
      .reduce<Schema | undefined>((part, name) => part?.properties?.[name], schema);
    expect(found).toBeDefined();
    if (value !== undefined && key !== 'upgrade.watchingPath')
      expect(found?.default).toEqual(value);
  }
});

it('offers a path as text or as an object with pins', () => {
  const [text, object] =
    schema.properties?.['white_list']?.properties?.['processPaths']?.items?.anyOf ?? [];
  expect(text?.type).toBe('string');
  expect(object).toMatchObject({ type: 'object', required: ['path'], additionalProperties: false });
  expect(object?.properties?.['sha256']?.anyOf).toMatchObject([
    { type: 'string' },
    { type: 'array', minItems: 1 },
  ]);
});

it('has patterns that an editor can compile', () => {
  const patterns = JSON.stringify(schema).match(/"pattern":"(?:[^"\\]|\\.)*"/g) ?? [];
  expect(patterns.length).toBeGreaterThan(5);
  for (const pattern of patterns) {
    const { pattern: source } = JSON.parse(`{${pattern}}`) as { pattern: string };
    expect(() => new RegExp(source, 'u')).not.toThrow();
  }
});

it('goes with an example in the documentation that is read without a warning', () => {
  const readme = readFileSync(join(__dirname, '../../README.md'), 'utf8');
  const [, example = ''] = /```yaml\n([^]*?)```/.exec(readme) ?? [];
  const { config, warnings } = parseConfig(example, { strict: true });
  expect(warnings).toEqual([]);
  expect(config.whiteList.processPaths).toHaveLength(2);
});

it('gives a new object each time', () => {
  expect(configJsonSchema()).not.toBe(configJsonSchema());
});

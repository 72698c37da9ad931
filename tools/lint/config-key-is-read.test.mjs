import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unreadProperties, wrongKeys } from './config-key-is-read.mjs';
import { memoryProgram } from './memory-program.mjs';

const CONFIG = '/libs/config/src/gen/wins-config.ts';

/**
 * @param {string} code - Code of a feature, which gets a `config`.
 * @param {string} file
 */
function unreadBy(code, file = '/apps/server/src/feature.ts') {
  const program = memoryProgram({
    [CONFIG]: `export interface Config {
      readonly debug: boolean;
      readonly limits: { readonly most: number };
    }`,
    [file]: `import type { Config } from '/libs/config/src/gen/wins-config.js';
      interface Options { readonly debug?: boolean; readonly limits?: { readonly most?: number } }
      declare function start(options: Options): void;
      export function feature(config: Config) { ${code} }`,
  });
  const types = program.getSourceFile(CONFIG);
  assert.ok(types);
  return unreadProperties(program, types).map(({ name }) => name.getText());
}

test('a key that no code reads is found, at any depth', () => {
  assert.deepEqual(unreadBy(''), ['debug', 'limits', 'most']);
  assert.deepEqual(unreadBy('return config.limits;'), ['debug', 'most']);
  assert.deepEqual(unreadBy('const { debug: _debug, limits: { most } } = config;'), ['debug']);
  assert.deepEqual(unreadBy("return [config.limits.most, 'debug' in config];"), []);
});

test('a key that a spread passes on is read where the other type is read', () => {
  const passes = 'const options: Options = { ...config };';
  assert.deepEqual(unreadBy(passes), ['debug', 'limits', 'most']);
  assert.deepEqual(unreadBy(`${passes} return options.debug;`), ['limits', 'most']);
  assert.deepEqual(unreadBy(`${passes} return options.limits?.most;`), ['debug']);
});

test('a key that an argument passes on is read where the other type is read', () => {
  const reads = 'function most({ limits }: Options) { return limits?.most; }';
  assert.deepEqual(unreadBy(`${reads} return most(config);`), ['debug']);
  assert.deepEqual(unreadBy(reads), ['debug', 'limits', 'most']);
});

test('the library of the config and test code are no readers', () => {
  const reads = 'return [config.debug, config.limits.most];';
  assert.deepEqual(unreadBy(reads), []);
  for (const file of [
    '/libs/config/src/parse.ts',
    '/apps/server/src/feature.spec.ts',
    '/apps/server/src/testing/a.ts',
  ])
    assert.deepEqual(unreadBy(reads, file), ['debug', 'limits', 'most']);
});

test('a mark excuses a key that no code reads, and is a fault at another key', () => {
  const faultsOf = (/** @type {string} */ code) => {
    const program = memoryProgram({
      [CONFIG]: `export interface Config {
        // Unread: the schema reads it.
        readonly debug: boolean;
      }`,
      '/apps/server/src/feature.ts': `import type { Config } from '/libs/config/src/gen/wins-config.js';
        export function feature(config: Config) { ${code} }`,
    });
    const types = program.getSourceFile(CONFIG);
    assert.ok(types);
    return Array.from(wrongKeys(program, types), ({ message }) => message);
  };
  assert.deepEqual(faultsOf(''), []);
  assert.deepEqual(faultsOf('return config.debug;'), [
    'remove the comment, because code reads debug.',
  ]);
});

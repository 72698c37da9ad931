import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrongDefaults } from './documented-default.mjs';
import { memoryProgram } from './memory-program.mjs';
import { statedDefault } from './stated-default.mjs';

/** @param {string} text */
function faultsOf(text) {
  const name = '/libs/one/src/one.ts';
  const program = memoryProgram({ [name]: text });
  const file = program.getSourceFile(name);
  assert.ok(file);
  return Array.from(wrongDefaults(program, file), ({ node, message }) => {
    const [, code = message] = /another default: (.*?)(?: \(|\.$)/.exec(message) ?? [];
    return `${node.name.getText()}: ${code}`;
  });
}

const OPTIONS = `
  interface Options {
    /** Time-out. Default 5 s. */
    readonly timeoutMs?: number;
    /** Default 64 KiB, at most 1 MiB. */
    readonly bytes?: number;
    /** Default true. */
    readonly isKept?: boolean;
    /** Default: \`always\`. */
    readonly restart?: string;
    /** Default: none. */
    readonly names?: readonly string[];
    /** Default: a burst of 1,024, then 20 per second. */
    readonly rate?: { readonly burst: number; readonly perSecond: number };
  }`;
const WRONG_ONES = [
  'timeoutMs: 6000',
  'bytes: KIB * 63',
  'isKept: false',
  "restart: 'no'",
  "names: ['a']",
  'rate: { burst: 1024, perSecond: 2 }',
];
const RIGHT =
  "timeoutMs: 5_000, bytes: KIB * 64, isKept: true, restart: 'always', names: [], rate: { burst: 1024, perSecond: 20 }";
const WRONG = WRONG_ONES.join(', ');
const KIB = 'const KIB = 1024;';

test('a default in destructuring is compared with its comment', () => {
  const code = (/** @type {string} */ values) => {
    const bound = values.replaceAll(/\b(?!burst|perSecond)(\w+): /g, '$1 = ');
    return `${KIB} ${OPTIONS} function run({ ${bound} }: Options) {}`;
  };
  assert.deepEqual(faultsOf(code(RIGHT)), []);
  assert.deepEqual(faultsOf(code(WRONG)), WRONG_ONES);
});

test('a default in an object that a spread overrides is compared with its comment', () => {
  const code = (/** @type {string} */ values) =>
    `${KIB} ${OPTIONS} const DEFAULTS = { ${values} };
    function run(options: Options) { return { ...DEFAULTS, ...options }; }`;
  assert.deepEqual(faultsOf(code(RIGHT)), []);
  assert.deepEqual(faultsOf(code(WRONG)), WRONG_ONES);
});

test('a default in a constant of the type is compared with its comment', () => {
  const code = (/** @type {string} */ values) =>
    `${KIB} ${OPTIONS} export const DEFAULTS: Options = { ${values} };`;
  assert.deepEqual(faultsOf(code(RIGHT)), []);
  assert.deepEqual(faultsOf(code(WRONG)), WRONG_ONES);
});

const ONE = `interface One {
  /** Default 5. */
  readonly most?: number;
}`;
for (const [where, use] of Object.entries({
  'after ??': 'function run(options: One) { return options.most ?? VALUE; }',
  'after ?? of a destructured name':
    'function run(options: One) { const { most } = options; return most ?? VALUE; }',
  'in the parameter of a function':
    'const limit = (most = VALUE) => most; function run(options: One) { limit(options.most); }',
  'in the options of another function':
    'interface Two { readonly most?: number } const two = ({ most = VALUE }: Two) => most; function run(options: One) { two(options); }',
  'in a list of defaults':
    'const ALL = { most: [VALUE, 1] }; function run(options: One, name: string) { return options[name as keyof typeof ALL] ?? 1; }',
}))
  test(`a default is found ${where}`, () => {
    assert.deepEqual(faultsOf(`const VALUE = 5; ${ONE} ${use}`), []);
    assert.deepEqual(faultsOf(`const VALUE = 7; ${ONE} ${use}`), ['most: VALUE']);
  });

test('a default of true is found in a comparison', () => {
  const code = (/** @type {boolean} */ stated) => `interface One {
    /** Default ${stated}. */
    readonly isKept?: boolean;
  } const run = (options: One) => options.isKept !== false;`;
  assert.deepEqual(faultsOf(code(true)), []);
  assert.deepEqual(faultsOf(code(false)), ['isKept: true']);
});

test('a default that no code gives is a fault, unless it is false or none', () => {
  assert.deepEqual(faultsOf(ONE), ['most: cannot find the code that gives this default.']);
  assert.deepEqual(faultsOf(ONE.replace('5', 'false')), []);
  assert.deepEqual(faultsOf(ONE.replace('5', 'none')), []);
});

test('the documented default of a parameter is compared', () => {
  const code = (/** @type {string} */ value) =>
    `/** @param wait - Time-out. Default 2 min. */ function run(wait = ${value}) {}`;
  assert.deepEqual(faultsOf(code('120_000')), []);
  assert.deepEqual(faultsOf(code('120')), ['wait: 120']);
});

test('a default in words is not read as a value', () => {
  for (const words of [
    'the system',
    '127.0.0.1',
    'true for a client',
    '`a` or `b`',
    '5 s to connect',
  ])
    assert.equal(statedDefault(`Default: ${words}.`), undefined);
});

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const EXAMPLES = path.resolve(import.meta.dirname, '../../../libs/config/examples');
const KEYS = [
  'white_list',
  'whiteList',
  'WHITE_LIST',
  'processPaths',
  'process_paths',
  'proxyPorts',
  'path',
  'sha256',
  'envs',
  'args',
  'for',
  'routes',
  'allow',
  'upgrade',
  'mode',
  'watchingPath',
  'audit',
  'tunnel',
  'listen',
  'proxy',
  'debug',
  'tls-config',
  'systemagent',
  'processEnvironment',
  'reflection',
  '__proto__',
  'constructor',
  '<<',
];
const VALUES = [
  '',
  'C:\\x\\y.exe',
  '/bin/true',
  '9796',
  '0x10',
  '-1',
  '65536',
  '1e9',
  '.inf',
  'true',
  'null',
  '~',
  'any',
  'none',
  '[[--port, { port: true }], []]',
  '[10.42.0.0/16, 0.0.0.0/0, fe80::/10]',
  '{ path: x, sha256: [a, b] }',
  'a'.repeat(64),
  '"\\u0000"',
  "'it''s'",
  '&a [*a]',
  '*a',
  '!!binary AA==',
  '!!js/function x',
  '|',
  '>-',
  '2026-01-01',
  '\u202e\u001b[31m',
];
const ODD = [
  '---',
  '...',
  '%YAML 1.1',
  '? a',
  '\t',
  '\ufeff',
  '\0',
  '\xff\xfe',
  '{',
  ']',
  '"',
  '#',
  '\r',
  '\u2028',
];
const EXPLOSION = ['a: &a [x, x]', 'b: &b [*a, *a]', 'c: &c [*b, *b]', 'd: [*c, *c]'];

/** Checks that any text gives a config, or problems that can be printed. */
export async function openConfig({ parseConfig, ConfigError }) {
  const examples = readdirSync(EXAMPLES).map((name) =>
    readFileSync(path.join(EXAMPLES, name), 'utf8').split('\n'),
  );
  return {
    name: 'config',
    generate: (rng) => ({
      steps: rng.choose(
        [3, () => mutate(rng, rng.pick(examples))],
        [3, () => rng.list(15, () => line(rng))],
        [1, () => mutate(rng, EXPLOSION)],
        [1, () => [rng.pick(['[', '{a: ', '- ', '{', '!!seq [']).repeat(1 + rng.below(3000))]],
      ),
      lineEnd: rng.pick(['\n', '\n', '\n', '\r\n', '\r', '']),
      encoding: rng.pick(['utf8', 'utf8', 'utf8', 'latin1', 'utf16le']),
      strict: rng.chance(0.3),
      platform: rng.pick(['linux', 'win32']),
    }),
    run({ steps, lineEnd, encoding, ...options }) {
      try {
        parseConfig(Buffer.from(steps.join(lineEnd), encoding), options);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        const { problems } = /** @type {import('@wins/config').ConfigError} */ (error);
        if (!problems.some(({ severity }) => severity === 'error'))
          throw new Error('refused without a problem', { cause: error });
        for (const { line: row = 1, column = 1, message } of problems)
          if (row < 1 || column < 1 || /[\p{C}\p{Zl}\p{Zp}]/u.test(message))
            throw new Error(`${row}:${column}: not to be shown: ${JSON.stringify(message)}`, {
              cause: error,
            });
      }
    },
    close: () => undefined,
  };
}

function line(rng) {
  const indent = ' '.repeat(rng.pick([0, 0, 2, 2, 4, 1]));
  return rng.choose(
    [5, () => `${indent}${rng.pick(KEYS)}: ${rng.pick(VALUES)}`],
    [3, () => `${indent}${rng.pick(KEYS)}:`],
    [3, () => `${indent}- ${rng.pick(VALUES)}`],
    [2, () => `${indent}- ${rng.pick(KEYS)}: ${rng.pick(VALUES)}`],
    [1, () => indent + rng.pick(ODD)],
  );
}

function mutate(rng, lines) {
  const all = [...lines];
  for (let count = rng.below(6); count >= 0; count -= 1) {
    const at = rng.below(all.length);
    const text = all[at] ?? '';
    const column = rng.below(text.length + 1);
    const insert = rng.pick([...ODD, ...VALUES]);
    rng.choose(
      [2, () => all.splice(at, 1)],
      [2, () => all.splice(at, 0, text)],
      [2, () => all.splice(at, 0, line(rng))],
      [2, () => (all[at] = text.slice(0, column) + insert + text.slice(column))],
      [2, () => (all[at] = text.slice(0, column) + text.slice(column + 1 + rng.below(4)))],
      [1, () => (all[at] = `  ${text}`)],
      [1, () => (all[at] = text.replace(/:.*/, `: ${rng.pick(VALUES)}`))],
    );
  }
  return all;
}

import { allowsCaller, faultOfCallers } from './executable-policy.js';
import type { PathDialect } from './parsed-path.js';

const ID = 'ab'.repeat(32);
const ROOT = ['administrators', 'user:0'];
const CONTAINER = [`container:${ID}`];

it.each<[readonly string[], readonly string[], boolean]>([
  [['administrators'], ROOT, true],
  [['user:0'], ROOT, true],
  [['user:1', 'user:0'], ROOT, true],
  [['user:0'], ['user:00'], false],
  [['user:1'], ['user:10'], false],
  [['administrators', 'user:0'], CONTAINER, false],
  [['container:*'], ROOT, false],
  [['container:*'], CONTAINER, true],
  [['container:*'], ['container:mounts:4026532000'], true],
  [[`container:${ID}`], CONTAINER, true],
  [['container:abababababab*'], CONTAINER, true],
  [['container:abababababab'], CONTAINER, false],
  [['container:bababababababa*'], CONTAINER, false],
  [['account:S-1-5-18'], ['administrators', 'account:S-1-5-18'], true],
  [['account:S-1-5-18'], ['account:S-1-5-180'], false],
  [['administrators', 'container:*'], [], false],
  [[], ROOT, false],
])('callers %j of an entry are %j: %s', (wanted, names, allowed) => {
  expect(allowsCaller(wanted, names)).toBe(allowed);
});

it.each<[readonly string[] | undefined, PathDialect, boolean]>([
  [undefined, 'posix', true],
  [['administrators', 'user:0', 'container:*', `container:${ID}`], 'posix', true],
  [['container:abababababab*'], 'posix', true],
  [['administrators', 'account:S-1-5-18', 'container:*'], 'windows', true],
  [[], 'posix', false],
  [['*'], 'posix', false],
  [['user:*'], 'posix', false],
  [['user:root'], 'posix', false],
  [['container:ab*'], 'posix', false],
  [['account:S-1-5-18'], 'posix', false],
  [['user:0'], 'windows', false],
  [[`container:${ID}`], 'windows', false],
  [['account:*'], 'windows', false],
])('callers %j can be meant on a %s host: %s', (wanted, dialect, meant) => {
  expect(faultOfCallers(wanted, dialect) === undefined).toBe(meant);
});

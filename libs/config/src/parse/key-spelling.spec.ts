import { foldKey, nearestKey } from './key-spelling.js';

it.each([
  ['white_list', 'whitelist'],
  ['Agent-Strict_TLSMode', 'agentstricttlsmode'],
  ['_a__b-', '_a__b-'],
  ['\u212A\u0130\u017F\u00C9', '\u212A\u0130\u017F\u00C9'],
])('folds %s to %s', (key, folded) => {
  expect(foldKey(key)).toBe(folded);
});

it.each([
  ['lisetn', ['listen', 'debug'], 'listen'],
  ['dbug', ['listen', 'debug'], 'debug'],
  ['processPath', ['processPaths', 'proxyPorts'], 'processPaths'],
  ['urls', ['url'], 'url'],
  ['lru', ['url'], undefined],
  ['', ['url'], undefined],
  ['prox', ['proxyPorts', 'proxy'], 'proxy'],
])('for %j of %j the nearest is %s', (key, known, nearest) => {
  expect(nearestKey(key, known)).toBe(nearest);
});

import { parseConfig } from '../parse/parse-config.js';
import { changedKeys, describeChanges } from './config-watch.js';

const loaded = (text: string) => ({
  ...parseConfig(text, { platform: 'linux' }),
  path: '/etc/config',
  found: true,
});
const of = (text: string) => loaded(text).config;

describe('a change of a config in words', () => {
  it.each([
    ['debug', '', 'debug: true', 'debug: false → true'],
    [
      'white_list.proxyPorts',
      'white_list: {proxyPorts: [80, 8000]}',
      'white_list: {proxyPorts: [80, 9796, 9797]}',
      'white_list.proxyPorts: removed 8000, added 9796 9797',
    ],
    [
      'white_list.proxyPorts',
      'white_list: {proxyPorts: [80, 8000]}',
      'white_list: {proxyPorts: [8000, 80]}',
      'white_list.proxyPorts: reordered',
    ],
    [
      'white_list.processPaths',
      'white_list: {processPaths: [/a]}',
      'white_list: {processPaths: [{path: /a, envs: [B]}]}',
      'white_list.processPaths: removed {"path":"/a"}, added {"path":"/a","envs":["B"]}',
    ],
    ['audit.directory', '', 'audit: {directory: /a}', 'audit.directory: not set → "/a"'],
    [
      'processEnvironment',
      'processEnvironment: {TOKEN: a}',
      'processEnvironment: {TOKEN: b}',
      'processEnvironment: changed (value not shown)',
    ],
  ])('of %s is from what it was to what it is, without a secret', (key, before, next, words) => {
    expect(describeChanges([key], of(next), of(before))).toEqual([words]);
  });

  it('has one line for a list of objects that is dropped, and none for keys that never were set', () => {
    const before = loaded('hostNetwork: {routes: [{destination: 10.9.0.0/16, gateway: 10.0.0.1}]}');
    const next = loaded('');
    const keys = changedKeys(next, before);
    expect(describeChanges(keys, next.config, before.config)).toEqual([
      expect.stringMatching(
        /^hostNetwork\.routes: \[?\{"destination":"10\.9\.0\.0\/16".*→ not set$/,
      ),
    ]);
  });

  it('is cut where a value is long', () => {
    const ports = JSON.stringify(Array.from({ length: 1000 }, (_, index) => 1000 + index));
    const next = of(`white_list: {proxyPorts: ${ports}}`);
    const [line = ''] = describeChanges(['white_list.proxyPorts'], next, of(''));
    expect(line).toMatch(/: added 1000 1001 .*…$/);
    expect(line.length).toBeLessThan(600);
  });
});

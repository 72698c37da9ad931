import { readFileSync } from 'node:fs';
import path from 'node:path';
import { configJsonSchema, configKeys, findConfigKeys, parseConfig } from '../index.js';

const keysOf = (text: string) => findConfigKeys(text, 'linux').keys.map(({ key }) => key);

it('says of every key what it means, what it may be, since when it exists and how it is spelt', () => {
  const keys = configKeys('linux');
  expect(keys.length).toBeGreaterThan(45);
  for (const { meaning, type, since, spellings, key } of keys) {
    expect([key, meaning]).toEqual([key, expect.stringMatching(/^[A-Z][^]*\.$/)]);
    expect([key, type]).toEqual([key, expect.stringMatching(/\w/)]);
    expect(since).toMatch(/^\d+\.\d+\.\d+$/);
    expect(spellings[0]).toBe(key.slice(key.lastIndexOf('.') + 1));
  }
});

/** True if a release precedes another. */
function isBefore(release: string, other: string): boolean {
  const [a, b] = [release, other].map((text) => text.split('.').map(Number)) as [
    number[],
    number[],
  ];
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

it('says of a key that the last release lacks that a later one brings it', () => {
  const file = path.join(__dirname, '../../released-keys.json');
  const { release, keys } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly release: string;
    readonly keys: Readonly<Record<string, string>>;
  };
  expect(Object.keys(keys).length).toBeGreaterThan(100);
  for (const { key, since } of configKeys('linux'))
    if (key in keys) expect([key, since]).toEqual([key, keys[key]]);
    else expect([key, since, isBefore(release, since)]).toEqual([key, since, true]);
});

it('knows the keys, defaults and meanings of the JSON Schema', () => {
  const schema = JSON.stringify(configJsonSchema());
  for (const { meaning, since } of configKeys()) {
    expect(schema).toContain(JSON.stringify(`${meaning} Since ${since}.`));
  }
  const { origins } = parseConfig('', { platform: 'linux' });
  const defaults = new Map(configKeys('linux').map((one) => [one.key, one.default]));
  for (const { key, value } of origins) expect([key, defaults.get(key)]).toEqual([key, value]);
});

it('tells spellings that the file is read with', () => {
  for (const { key, spellings } of configKeys()) {
    if (key.includes('.')) continue;
    for (const spelling of spellings) {
      const { keys } = findConfigKeys(spelling);
      expect(keys[0]?.key).toBe(key);
    }
  }
  const [key] = findConfigKeys('agentStrictTLSMode').keys;
  expect(key?.spellings).toEqual([
    'agentStrictTLSMode',
    'agentStrictTlsMode',
    'agent_strict_tls_mode',
    'agent-strict-tls-mode',
  ]);
  for (const spelling of key?.spellings ?? []) {
    expect(parseConfig(`${spelling}: true`).config.agentStrictTlsMode).toBe(true);
  }
});

it('finds a key by its path in any spelling, by its last words, and with an index', () => {
  expect(keysOf('white_list.proxyPorts')).toEqual(['white_list.proxyPorts']);
  expect(keysOf('whiteList.proxy-ports[3]')).toEqual(['white_list.proxyPorts']);
  expect(keysOf('sha256')).toEqual([
    'white_list.processPaths[].sha256',
    'keep[].sha256',
    'csi-proxy.sha256',
  ]);
  expect(keysOf('white_list.processPaths[0].envs')).toEqual(['white_list.processPaths[].envs']);
  expect(keysOf('tunnel')).toEqual([
    'tunnel',
    'tunnel.maxSessions',
    'tunnel.maxStreams',
    'tunnel.handshakeTimeoutMs',
  ]);
});

it('names the nearest key for one that it does not know', () => {
  expect(findConfigKeys('white_list.proxyPort')).toEqual({
    keys: [],
    nearest: 'white_list.proxyPorts',
  });
  expect(findConfigKeys('nonsense.of.mine')).toEqual({ keys: [] });
});

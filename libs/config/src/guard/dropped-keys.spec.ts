import { droppedKeys, parseConfig, type WinsConfig } from '../index.js';

const parts = (content: object): WinsConfig =>
  parseConfig(JSON.stringify(content), { platform: 'win32' }).config;
const list = (...processPaths: unknown[]) => ({ white_list: { processPaths } });
const HELPER = { path: 'C:\\wins-upgrade.exe', mayBreakAway: true };
const csi = { url: 'https://example.com/%s', version: 'v1.1.3', kubeletPath: 'C:/k.exe' };
const KEPT = [{ path: 'C:\\kept.exe' }, { path: 'C:\\too.exe', args: ['--secret'] }];
const FULL = {
  systemagent: {},
  'csi-proxy': csi,
  hostNetwork: {},
  keep: KEPT,
  ...list('C:\\a.exe', HELPER),
  upgrade: { signedBy: 'ab'.repeat(32) },
};

it.each<[string, object, object, readonly string[]]>([
  ['nothing of itself', FULL, FULL, []],
  [
    'all, when nothing is left',
    FULL,
    {},
    ['systemagent', 'csi-proxy', 'white_list', 'hostNetwork', 'keep', 'upgrade.signedBy'],
  ],
  [
    'a whitelist of which the helper alone is left',
    FULL,
    { ...FULL, ...list(HELPER) },
    ['white_list'],
  ],
  [
    'that of a release that did not know helpers, too',
    list('C:\\a.exe', HELPER.path),
    list(HELPER),
    ['white_list'],
  ],
  ['no whitelist of which one entry is left', list('C:\\a.exe', 'C:\\b.exe'), list('c:/B.exe'), []],
  [
    'no whitelist of which a port is left',
    { white_list: { proxyPorts: [1] } },
    { white_list: { proxyPorts: [1] } },
    [],
  ],
  ['the only port', { white_list: { proxyPorts: [1] } }, list('C:\\a.exe'), ['white_list']],
  [
    'the only port, when the same of UDP takes its place',
    { white_list: { proxyPorts: [1] } },
    { white_list: { proxyUdpPorts: [1] } },
    ['white_list'],
  ],
  [
    'no whitelist of which a port of UDP is left',
    { white_list: { proxyPorts: [1], proxyUdpPorts: [2] } },
    { white_list: { proxyUdpPorts: [2] } },
    [],
  ],
  [
    'no helper that gets another digest',
    list(HELPER),
    list({ ...HELPER, sha256: 'a'.repeat(64) }),
    [],
  ],
  ['a list of a helper alone, when nothing is left', list(HELPER), {}, ['white_list']],
  ['the programs that are kept, when none is left', FULL, { ...FULL, keep: [] }, ['keep']],
  [
    'none of them when one is left, or another',
    FULL,
    { ...FULL, keep: [{ path: 'C:\\b.exe' }] },
    [],
  ],
  [
    'no grant of an entry, which its next client is told',
    list({ path: 'C:\\a.exe', detached: { allow: true }, files: { max: 1 } }),
    list('C:\\a.exe'),
    [],
  ],
  ['the signers, but not with others', FULL, { ...FULL, upgrade: {} }, ['upgrade.signedBy']],
  [
    'no signers that others replace',
    FULL,
    { ...FULL, upgrade: { signedBy: ['0c'.repeat(32)], mode: 'watching' } },
    [],
  ],
  ['nothing of an empty config', {}, FULL, []],
])('a config drops %s', (_what, before, after, dropped) => {
  expect(droppedKeys(parts(before), parts(after))).toEqual(dropped);
});

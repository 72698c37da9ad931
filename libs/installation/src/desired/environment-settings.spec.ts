import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { InstallError } from '../install-error.js';
import { settingsFromEnvironment } from './environment-settings.js';
import { canonicalPath } from './read-variables.js';
import { desiredInstallation, sucSettingsFromEnvironment } from './desired-installation.js';

const JOIN = { CATTLE_SERVER: 'https://rancher.example.com/', CATTLE_TOKEN: 'canary-token' };

function read(more: Readonly<Record<string, string>>, platform: NodeJS.Platform = 'win32') {
  return settingsFromEnvironment({ ...JOIN, ...more }, {}, platform);
}

describe('the settings of an environment', () => {
  it('has the defaults of the original installer', () => {
    const { token, paths, ...settings } = read({});
    expect(settings).toEqual({
      mode: 'remote',
      server: 'https://rancher.example.com',
      isWorker: false,
      labels: [],
      taints: [],
      preservesWorkDirectory: false,
      proxies: {},
      sections: {},
    });
    expect(token?.reveal()).toBe('canary-token');
    expect(paths).toMatchObject({
      config: 'C:\\etc\\rancher\\wins\\config',
      connectionInfo: 'C:\\var\\lib\\rancher\\agent\\rancher2_connection_info.json',
      program: 'C:\\usr\\local\\bin\\wins.exe',
    });
  });

  it.each<[string, Readonly<Record<string, string>>, object]>([
    [
      'booleans in any letter case',
      { CATTLE_ROLE_WORKER: 'True', STRICT_VERIFY: 'FALSE' },
      { isWorker: true, isStrictTls: false },
    ],
    [
      'booleans of PowerShell',
      { CATTLE_ENABLE_WINS_DELAYED_START: '$True' },
      { isDelayedStart: true },
    ],
    [
      'a local node',
      { CATTLE_REMOTE_ENABLED: 'false', CATTLE_LOCAL_ENABLED: 'true' },
      { mode: 'local' },
    ],
    [
      'labels and taints',
      { CATTLE_LABELS: 'a=b, c=d,a=b', CATTLE_TAINTS: 'k=v:NoSchedule' },
      { labels: ['a=b', 'c=d'], taints: ['k=v:NoSchedule'] },
    ],
    [
      'an adapter with a blank',
      { CATTLE_ADDRESS: 'vEthernet (Ethernet)' },
      { address: 'vEthernet (Ethernet)' },
    ],
    [
      'a checksum in lower case',
      { CATTLE_CA_CHECKSUM: 'AB'.repeat(32) },
      { caChecksum: 'ab'.repeat(32) },
    ],
    ['an empty value as none', { CATTLE_CA_CHECKSUM: '', CATTLE_LABELS: '' }, { labels: [] }],
    ['a name in lower case', { cattle_node_name: 'node-1' }, { nodeName: 'node-1' }],
  ])('reads %s', (_what, more, wanted) => {
    expect(read(more)).toMatchObject(wanted);
  });

  it.each([
    ['CATTLE_REMOTE_ENABLED and CATTLE_LOCAL_ENABLED', { CATTLE_LOCAL_ENABLED: 'true' }],
    ['CATTLE_SERVER', { CATTLE_SERVER: '' }],
    ['CATTLE_SERVER', { CATTLE_SERVER: 'ftp://x' }],
    ['CATTLE_SERVER', { CATTLE_SERVER: 'https://u:canary-token@x' }],
    ['CATTLE_TOKEN', { CATTLE_TOKEN: '' }],
    ['CATTLE_TOKEN', { CATTLE_TOKEN: 'canary-token\r\nX-Other: 1' }],
    ['CATTLE_CA_CHECKSUM', { CATTLE_CA_CHECKSUM: 'abc' }],
    ['CATTLE_ROLE_WORKER', { CATTLE_ROLE_WORKER: 'yes' }],
    ['CATTLE_LABELS', { CATTLE_LABELS: 'a=ü' }],
    ['CATTLE_NODE_NAME', { CATTLE_NODE_NAME: 'a b' }],
    ['CATTLE_ID', { CATTLE_ID: 'x'.repeat(64) }],
    ['CATTLE_AGENT_CONFIG_DIR', { CATTLE_AGENT_CONFIG_DIR: 'etc' }],
    ['CATTLE_AGENT_BIN_PREFIX', { CATTLE_AGENT_BIN_PREFIX: 'C:\\a;C:\\b' }],
    ['HTTPS_PROXY', { HTTPS_PROXY: 'http://u:canary-token@p\nX=1' }],
  ])('is refused by the name of the variable %s, without what may be secret: %j', (name, more) => {
    const error = errorOf(() => read(more));
    expect(error).toMatchObject({ code: 'usage' });
    expect(error.message).toContain(`cannot read ${name}:`);
    expect(inspect(error)).not.toContain('canary');
  });

  it('reads csi-proxy only where all of it is set', () => {
    const part = { CSI_PROXY_URL: 'https://x/%s', CSI_PROXY_VERSION: 'v1' };
    expect(read(part).sections).toEqual({});
    expect(read({ ...part, CSI_PROXY_KUBELET_PATH: 'c:/x' }).sections).toMatchObject({
      'csi-proxy.kubeletPath': 'c:/x',
    });
  });

  it('lets parameters go before variables, but for labels and taints, which it adds', () => {
    const environment = {
      ...JOIN,
      CATTLE_LABELS: 'a=b',
      CATTLE_NODE_NAME: 'one',
      cattle_taints: 'x=y:NoExecute',
    };
    const given = {
      label: 'c=d',
      'node-name': 'two',
      taint: 'z=:NoSchedule',
      worker: true,
      'delayed-start': true,
    };
    expect(settingsFromEnvironment(environment, given, 'win32')).toMatchObject({
      labels: ['a=b', 'c=d'],
      nodeName: 'two',
      taints: ['x=y:NoExecute', 'z=:NoSchedule'],
      isWorker: true,
      isDelayedStart: true,
    });
  });

  it('shows its secrets to no one', () => {
    const settings = read({ HTTPS_PROXY: 'http://u:canary-password@p', no_proxy: 'canary-x' });
    expect(Object.keys(settings.proxies)).toEqual(['HTTPS_PROXY', 'NO_PROXY']);
    expect(
      `${JSON.stringify(settings)}${inspect(settings, { depth: 9, showHidden: true })}`,
    ).not.toContain('canary');
    expect(settings.proxies['HTTPS_PROXY']?.reveal()).toBe('http://u:canary-password@p');
  });

  it('takes a proxy away whose variable is set and empty, and leaves one that is not set', () => {
    const settings = read({ HTTPS_PROXY: '', NO_PROXY: '', no_proxy: 'x' });
    expect(Object.keys(settings.proxies)).toEqual(['HTTPS_PROXY', 'NO_PROXY']);
    expect([settings.proxies['HTTPS_PROXY'], settings.proxies['NO_PROXY']?.reveal()]).toEqual([
      null,
      'x',
    ]);
    expect(desiredInstallation(settings, {}).environment).toMatchObject({ HTTPS_PROXY: null });
  });

  it('becomes the keys of the config that the original wrote', () => {
    const desired = desiredInstallation(read({ STRICT_VERIFY: 'true' }), { authorities: 'PEM' });
    expect(desired.config).toMatchObject({
      'systemagent.remoteEnabled': true,
      'systemagent.localEnabled': false,
      agentStrictTLSMode: true,
      'tls-config.certFilePath': 'C:\\etc\\rancher\\wins\\ranchercert',
    });
  });
});

describe('the settings of the upgrade controller', () => {
  const flags = ['isDebug', 'isDelayedStart', 'isRke2Dependent', 'isStrictTls'] as const;

  it('leaves what is not set as it is, unless it is to mean what it meant to the original', () => {
    const mine = sucSettingsFromEnvironment({}, { platform: 'win32' });
    const theirs = sucSettingsFromEnvironment({}, { platform: 'win32', rancherCompatible: true });
    expect(flags.map((flag) => mine[flag])).toEqual([undefined, undefined, undefined, undefined]);
    expect(flags.map((flag) => theirs[flag])).toEqual([false, false, false, undefined]);
  });

  it.each([
    ['CATTLE_TOKEN', { CATTLE_SERVER: 'https://x' }],
    ['CATTLE_SERVER', { CATTLE_TOKEN: 'canary-token' }],
  ])('is refused with a server without a token, or the other way round: no %s', (name, given) => {
    const { code, message } = errorOf(() =>
      sucSettingsFromEnvironment(given, { platform: 'win32' }),
    );
    expect([code, message]).toEqual([
      'usage',
      expect.stringMatching(`cannot read ${name}: found no`),
    ]);
    expect(message).not.toContain('canary');
  });

  it('reads the folder of data, which is that of a cluster of Linux and Windows', () => {
    const settings = sucSettingsFromEnvironment(
      { CATTLE_AGENT_VAR_DIR: '/var/lib/x', CATTLE_WINS_SKIP_BINARY_UPGRADE: '$true' },
      { platform: 'win32' },
    );
    expect(settings.paths.dataFolder).toBe('C:\\var\\lib\\x');
    expect(settings.skipsProgram).toBe(true);
  });
});

describe('a path', () => {
  it.each<[string, string | undefined]>([
    ['c:/etc/rancher', 'C:\\etc\\rancher'],
    ['C:\\a b\\ü\\', 'C:\\a b\\ü'],
    ['/opt/rancher/agent', 'C:\\opt\\rancher\\agent'],
    ['\\opt\\rancher', 'C:\\opt\\rancher'],
    ['//server/share', undefined],
    ['C:', undefined],
    ['\\\\server\\share', undefined],
    ['\\\\?\\C:\\x', undefined],
    ['C:\\a\\..\\b', undefined],
    ['C:\\a.\\b', undefined],
    ['C:\\nul\\b', undefined],
    ['C:\\a:stream', undefined],
    ['C:\\%TEMP%', undefined],
    ['C:\\a"b', undefined],
    ['etc', undefined],
  ])('of Windows, %j, is %j', (text, wanted) => {
    expect(canonicalPath(text, 'win32')).toBe(wanted);
  });

  it('that is taken is taken as it is the second time', () => {
    for (const platform of ['win32', 'linux'] as const) {
      fc.assert(
        fc.property(
          fc.string({ unit: fc.constantFrom('a', 'C', ':', '/', '\\', '.', ' ', 'ü', ';', '%') }),
          (text) => {
            const once = canonicalPath(text, platform);
            if (once !== undefined) expect(canonicalPath(once, platform)).toBe(once);
          },
        ),
      );
    }
  });
});

function errorOf(action: () => unknown): InstallError {
  try {
    action();
  } catch (error) {
    if (error instanceof InstallError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

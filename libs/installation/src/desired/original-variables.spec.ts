import { settingsFromEnvironment, type InstallParameters } from './environment-settings.js';
import { desiredInstallation } from './desired-installation.js';

const JOIN = { CATTLE_SERVER: 'https://rancher.example.com', CATTLE_TOKEN: 'a-token' };
const DIGEST = 'ab'.repeat(32);
type Values = Readonly<Record<string, string>>;

function read(more: Values, parameters: InstallParameters = {}) {
  return settingsFromEnvironment({ ...JOIN, ...more }, parameters, 'win32');
}

describe('a variable of the original installer', () => {
  it.each<[string, Values, object]>([
    ['CATTLE_SERVER', { CATTLE_SERVER: 'https://a/b/' }, { server: 'https://a/b' }],
    ['CATTLE_CA_CHECKSUM', { CATTLE_CA_CHECKSUM: DIGEST.toUpperCase() }, { caChecksum: DIGEST }],
    ['CATTLE_ROLE_WORKER', { CATTLE_ROLE_WORKER: 'true' }, { isWorker: true }],
    ['CATTLE_LABELS', { CATTLE_LABELS: 'a=b,c=d' }, { labels: ['a=b', 'c=d'] }],
    ['CATTLE_TAINTS', { CATTLE_TAINTS: 'a=b:NoExecute' }, { taints: ['a=b:NoExecute'] }],
    ['CATTLE_NODE_NAME', { CATTLE_NODE_NAME: 'node-1' }, { nodeName: 'node-1' }],
    ['CATTLE_ADDRESS', { CATTLE_ADDRESS: 'awspublic' }, { address: 'awspublic' }],
    ['CATTLE_INTERNAL_ADDRESS', { CATTLE_INTERNAL_ADDRESS: 'e 1' }, { internalAddress: 'e 1' }],
    ['STRICT_VERIFY', { STRICT_VERIFY: 'True' }, { isStrictTls: true }],
    ['delayed start', { CATTLE_ENABLE_WINS_DELAYED_START: 'true' }, { isDelayedStart: true }],
    [
      'remote and local',
      { CATTLE_REMOTE_ENABLED: 'false', CATTLE_LOCAL_ENABLED: 'true' },
      { mode: 'local' },
    ],
    [
      'CATTLE_PRESERVE_WORKDIR',
      { CATTLE_PRESERVE_WORKDIR: 'true' },
      { preservesWorkDirectory: true },
    ],
    ['CATTLE_ID', { CATTLE_ID: 'a1' }, { nodeId: 'a1' }],
    [
      'CATTLE_AGENT_CONFIG_DIR',
      { CATTLE_AGENT_CONFIG_DIR: 'd:/a b' },
      { paths: { config: 'D:\\a b\\config', nodeId: 'D:\\a b\\cattle-id' } },
    ],
    [
      'CATTLE_AGENT_VAR_DIR',
      { CATTLE_AGENT_VAR_DIR: 'D:\\var' },
      {
        paths: {
          connectionInfo: 'D:\\var\\rancher2_connection_info.json',
          workFolder: 'D:\\var\\work',
        },
      },
    ],
    [
      'CATTLE_AGENT_VAR_DIR of a cluster of Linux and Windows',
      { CATTLE_AGENT_VAR_DIR: '/opt/rancher/agent' },
      { paths: { connectionInfo: 'C:\\opt\\rancher\\agent\\rancher2_connection_info.json' } },
    ],
    [
      'CATTLE_AGENT_BIN_PREFIX',
      { CATTLE_AGENT_BIN_PREFIX: 'D:\\x' },
      { paths: { program: 'D:\\x\\bin\\wins.exe', programFolder: 'D:\\x\\bin' } },
    ],
    ['its digest', { CATTLE_AGENT_BINARY_CHECKSUM: DIGEST }, { programSha256: DIGEST }],
  ])('has its meaning: %s', (_name, values, wanted) => {
    expect(read(values)).toMatchObject(wanted);
  });

  it.each([
    ['CATTLE_SERVER', {}, { CATTLE_TOKEN: 'x' }],
    ['CATTLE_TOKEN', {}, { CATTLE_SERVER: 'https://a' }],
    ['both true', JOIN, { CATTLE_LOCAL_ENABLED: 'true' }],
    ['both false', JOIN, { CATTLE_REMOTE_ENABLED: 'false' }],
  ])('is wanted as the original wants it: %s', (found, some, more) => {
    const environment = { ...some, ...more };
    expect(() => settingsFromEnvironment(environment, {}, 'win32')).toThrow(found);
  });

  it('has no token where there is no server', () => {
    const local = { CATTLE_REMOTE_ENABLED: 'false', CATTLE_LOCAL_ENABLED: 'true' };
    expect(settingsFromEnvironment(local, {}, 'win32').token).toBeUndefined();
  });

  it('is not read where the original does not: other roles, and the level of its log', () => {
    const more = {
      CATTLE_ROLE_CONTROLPLANE: 'x',
      CATTLE_ROLE_ETCD: 'x',
      CATTLE_ROLE_NONE: 'x',
      CATTLE_AGENT_LOGLEVEL: 'x',
      CATTLE_AGENT_UNINSTALL_URL: 'x',
    };
    expect(read(more)).toEqual(read({}));
  });

  it('of a proxy is one of three, in any letter case, each alone', () => {
    for (const [name, spelled] of [
      ['HTTP_PROXY', 'http_proxy'],
      ['HTTPS_PROXY', 'Https_Proxy'],
      ['NO_PROXY', 'NO_PROXY'],
    ] as const) {
      const { proxies } = read({ [spelled]: 'http://u:p@proxy', HTTP_PROXY_OF_OTHERS: 'x' });
      expect(Object.keys(proxies)).toEqual([name]);
      expect(proxies[name]?.reveal()).toBe('http://u:p@proxy');
    }
  });

  it('goes behind its parameter, but labels and taints are added to', () => {
    const variables = {
      CATTLE_LABELS: 'a=b',
      CATTLE_TAINTS: 'a=b:NoExecute',
      CATTLE_NODE_NAME: 'one',
      CATTLE_ADDRESS: '10.0.0.1',
      CATTLE_INTERNAL_ADDRESS: '10.0.0.2',
      STRICT_VERIFY: 'false',
      CATTLE_ROLE_WORKER: 'false',
      CATTLE_CA_CHECKSUM: 'cd'.repeat(32),
      CATTLE_ENABLE_WINS_DELAYED_START: 'false',
    };
    const parameters = {
      server: 'https://other',
      token: 'other',
      'ca-checksum': DIGEST,
      worker: true,
      label: 'c=d',
      taint: 'c=d:NoSchedule',
      'node-name': 'two',
      address: '10.0.0.3',
      'internal-address': '10.0.0.4',
      'strict-tls-verification': true,
      'delayed-start': true,
    };
    const settings = read(variables, parameters);
    expect(settings.token?.reveal()).toBe('other');
    expect(settings).toMatchObject({
      server: 'https://other',
      caChecksum: DIGEST,
      isWorker: true,
      nodeName: 'two',
      labels: ['a=b', 'c=d'],
      taints: ['a=b:NoExecute', 'c=d:NoSchedule'],
      address: '10.0.0.3',
      internalAddress: '10.0.0.4',
      isStrictTls: true,
      isDelayedStart: true,
    });
  });

  it('that is empty, as an unset one of PowerShell is, goes behind nothing', () => {
    const names = ['CATTLE_LABELS', 'CATTLE_ADDRESS', 'CATTLE_ID', 'STRICT_VERIFY'];
    const empty = Object.fromEntries(names.map((name) => [name, '']));
    expect(read(empty, { server: '', label: '', 'node-name': '' })).toEqual(read({}));
  });

  it('becomes a key of the config where it did: all three of csi-proxy, or none', () => {
    const all = {
      CSI_PROXY_URL: 'https://a/%s',
      CSI_PROXY_VERSION: 'v1.1.3',
      CSI_PROXY_KUBELET_PATH: 'C:/bin/kubelet.exe',
    };
    expect(desiredInstallation(read(all), {}).config).toMatchObject({
      'csi-proxy.url': 'https://a/%s',
      'csi-proxy.version': 'v1.1.3',
      'csi-proxy.kubeletPath': 'C:/bin/kubelet.exe',
    });
    for (const name of Object.keys(all)) {
      const { config = {} } = desiredInstallation(read({ ...all, [name]: '' }), {});
      expect(Object.keys(config).filter((key) => key.startsWith('csi-proxy'))).toEqual([]);
    }
  });
});

import { inspect } from 'node:util';
import { editConfig, parseConfig } from '@wins/config';
import {
  describePlan,
  InstallError,
  desiredInstallation,
  desiredInstallationOfSuc,
  planInstall,
  Secret,
  sucSettingsFromEnvironment,
  settingsFromEnvironment,
  type InstallParameters,
  type DesiredInstallation,
  type NodeFacts,
} from '@wins/installation';
import { parseServiceCommand } from '@wins/service-upgrade';

const JOIN = { CATTLE_SERVER: 'https://rancher.example.com', CATTLE_TOKEN: 'a-token' };
const CSI = {
  CSI_PROXY_URL: 'https://a/%s',
  CSI_PROXY_VERSION: 'v1.1.3',
  CSI_PROXY_KUBELET_PATH: 'x',
};
const PROGRAM = { file: 'C:\\staged', sha256: 'b'.repeat(64), version: 'v1.0.0' };
const EMPTY: NodeFacts = {
  platform: 'win32',
  states: new Map(),
  folders: new Map(),
  isServiceBeingRemoved: false,
};

const VARIABLES = [
  'CATTLE_SERVER',
  'CATTLE_TOKEN',
  'CATTLE_CA_CHECKSUM',
  'CATTLE_ROLE_WORKER',
  'CATTLE_LABELS',
  'CATTLE_TAINTS',
  'CATTLE_NODE_NAME',
  'CATTLE_ADDRESS',
  'CATTLE_INTERNAL_ADDRESS',
  'CATTLE_ID',
  'STRICT_VERIFY',
  'CATTLE_ENABLE_WINS_DELAYED_START',
  'CATTLE_REMOTE_ENABLED',
  'CATTLE_LOCAL_ENABLED',
  'CATTLE_PRESERVE_WORKDIR',
  'CATTLE_AGENT_CONFIG_DIR',
  'CATTLE_AGENT_VAR_DIR',
  'CATTLE_AGENT_BIN_PREFIX',
  'CATTLE_AGENT_BINARY_CHECKSUM',
  'CSI_PROXY_URL',
  'CSI_PROXY_VERSION',
  'CSI_PROXY_KUBELET_PATH',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
];
const OF_UPGRADE = [
  'CATTLE_SERVER',
  'CATTLE_TOKEN',
  'CATTLE_CA_CHECKSUM',
  'CATTLE_WINS_DEBUG',
  'STRICT_VERIFY',
  'CATTLE_ENABLE_WINS_DELAYED_START',
  'CATTLE_ENABLE_WINS_SERVICE_DEPENDENCY',
  'CATTLE_WINS_SKIP_BINARY_UPGRADE',
  'CATTLE_WINS_ALLOW_DOWNGRADE',
  'CATTLE_AGENT_CONFIG_DIR',
  'CATTLE_AGENT_BIN_PREFIX',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
];
const PARAMETERS: (keyof InstallParameters)[] = [
  ...(['server', 'token', 'ca-checksum', 'label', 'taint', 'node-name', 'address'] as const),
  'internal-address',
];

/** Values that a shell, a command line, YAML, a list, a header or a terminal would misread. */
const HOSTILE: readonly string[] = [
  'canary\nwhite_list: x',
  'canary\r\nX-Cattle-Role-Etcd: true',
  'canary\0x',
  'canary\u001b[2J',
  'canary\u202egnp',
  'canary\u2028x',
  '"canary" srv app run --config "x',
  "'canary'",
  '$(canary)',
  '`canary`',
  '%TEMP%\\canary',
  'canary & calc | more > x',
  '{{canary}}',
  '*canary',
  '# canary: x',
  '!!js/function canary',
  '..\\..\\canary',
  'C:\\x\\..\\canary',
  'C:\\a "canary"',
  'C:\\canary;C:\\b',
  '-canary',
  '--config=canary',
  'canary'.repeat(6000),
];

/** Only characters that are safe on a terminal and in a log. */
const PLAIN = /^[^\p{C}\p{Zl}\p{Zp}]*$/u;

/** Checks that `read` throws an error with the name of the variable, or that the value reaches every output unchanged. */
function check(name: string, value: string, desired: () => DesiredInstallation): void {
  let wanted: DesiredInstallation;
  try {
    wanted = desired();
  } catch (error) {
    if (!(error instanceof InstallError)) throw error;
    expect(error.code).toBe('usage');
    expect(error.message).toContain(name);
    expect(error.message).toMatch(PLAIN);
    if (/TOKEN|PROXY$/.test(name)) expect(inspect(error)).not.toContain('canary');
    return;
  }
  const { paths, config = {} } = wanted;
  const text = editConfig('white_list:\n  processPaths: []\n', config);
  const found = parseConfig(text).config;
  expect(found.whiteList.processPaths).toEqual([]);
  if (name.startsWith('CSI_PROXY')) expect(Object.values(found.csiProxy ?? {})).toContain(value);
  expect(text.match(/^[^\s#:-][^:]*:/gm)?.every((key) => KEYS.has(key.slice(0, -1)))).toBe(true);

  const plan = planInstall(EMPTY, { ...wanted, program: PROGRAM }, (before, changes) =>
    editConfig(before, changes),
  );
  if (plan.kind !== 'steps') throw new Error(plan.reason);
  for (const { item, to } of plan.steps)
    if (item.kind === 'service' && typeof to === 'object' && 'command' in to)
      expect(parseServiceCommand(to.command, () => false)).toEqual({
        imagePath: paths.program,
        args: ['srv', 'app', 'run', '--config', paths.config],
      });
  const lines = describePlan(plan);
  for (const line of lines) expect(line).toMatch(PLAIN);
  if (/TOKEN|PROXY$/.test(name)) expect(lines.join('\n')).not.toContain('canary');
}
const KEYS = new Set([
  'white_list',
  'systemagent',
  'agentStrictTLSMode',
  'tls-config',
  'csi-proxy',
  'debug',
]);

describe('a hostile value', () => {
  const install = (
    environment: Readonly<Record<string, string>>,
    parameters: InstallParameters = {},
  ): DesiredInstallation => {
    const settings = settingsFromEnvironment({ ...JOIN, ...environment }, parameters, 'win32');
    return desiredInstallation(settings, { authorities: 'PEM', connectionInfo: new Secret('{}') });
  };

  it.each(VARIABLES)('of %s is refused by name, or used unchanged', (name) => {
    for (const value of HOSTILE) check(name, value, () => install({ ...CSI, [name]: value }));
  });

  it.each(PARAMETERS)('of the parameter %s is refused by name, or used unchanged', (parameter) => {
    for (const value of HOSTILE) check('CATTLE_', value, () => install({}, { [parameter]: value }));
  });

  it.each(OF_UPGRADE)('of %s is refused by name by an upgrade too', (name) => {
    for (const value of HOSTILE)
      check(name, value, () =>
        desiredInstallationOfSuc(
          sucSettingsFromEnvironment({ [name]: value }, { platform: 'win32' }),
          {},
        ),
      );
  });

  it('is no path with blanks, letters beyond ASCII or a #: config and command line have it as it is', () => {
    for (const folder of [
      'D:\\a b\\ü #1',
      'D:\\- x',
      'D:\\配置, {a}',
      "D:\\it's & [x]",
      'D:\\true',
    ]) {
      const desired = install({
        CATTLE_AGENT_CONFIG_DIR: folder,
        CATTLE_AGENT_VAR_DIR: `${folder}\\v`,
      });
      expect(desired.paths.config).toBe(`${folder}\\config`);
      check('CATTLE_AGENT_CONFIG_DIR', folder, () => desired);
      const { config } = parseConfig(editConfig('', desired.config ?? {}));
      expect(config.tlsConfig?.certFilePath).toBe(`${folder}\\ranchercert`);
      expect(config.systemAgent?.workDirectory).toBe(`${folder}\\v\\work`);
    }
  });

  it('is a value of none of the variables that are not read', () => {
    const others = ['CATTLE_ROLE_CONTROLPLANE', 'CATTLE_ROLE_ETCD', 'CATTLE_ROLE_NONE'];
    const more = [
      'CATTLE_AGENT_LOGLEVEL',
      'HTTP_PROXY_X',
      'CATTLE_AGENT_BINARY_URL',
      'RANCHER_CERT',
    ];
    const environment = Object.fromEntries([...others, ...more].map((name) => [name, '\0canary']));
    expect(settingsFromEnvironment({ ...JOIN, ...environment }, {}, 'win32')).toEqual(
      settingsFromEnvironment(JOIN, {}, 'win32'),
    );
  });
});

import { command } from '../command-line/command.js';
import { limitOption, listOption, switchOption, textOption } from '../command-line/option.js';
import { upgradeHelper, server } from '../load-applications.js';
import { textOutput } from './daemon-options.js';

const EXIT_CODES =
  'The exit code is 0 if the node is as it is wanted, 1 if something failed and all was put back, 64 for an invalid command line, 65 if ' +
  'it was refused, 70 if it failed, 75 if another installation or upgrade is running.';

const LONGEST_MS = 3_600_000;

const common = {
  'dry-run': switchOption('Print what would be done, and do nothing'),
  wait: limitOption(
    'wait',
    'Time limit for the daemon to stop, and to prove itself, such as 2m (default: 60s)',
    LONGEST_MS,
  ),
  output: textOutput,
};
const install = {
  'allow-downgrade': switchOption('Allow an older release'),
  'delayed-start': switchOption('Start the service some time after the system'),
};
const asking = {
  'allow-http': switchOption(
    'Allow a server without TLS: its token crosses the network in the clear',
  ),
  timeout: limitOption(
    'timeout',
    'For how long the server is asked again, such as 5m (default: 15m)',
    LONGEST_MS,
  ),
};
const CATTLE: readonly (readonly [string, string])[] = [
  ['CATTLE_SERVER', 'as --server'],
  ['CATTLE_TOKEN', 'the token of the cluster'],
  ['CATTLE_CA_CHECKSUM', 'as --ca-checksum'],
  ['CATTLE_...', 'all others: see the page'],
];

/** `wins install`. */
export const installCommand = command({
  name: 'install',
  summary: 'Install the daemon on this node',
  details: `The program that is installed is this one. ${EXIT_CODES}`,
  page: 'install.md',
  options: {
    ...install,
    adopt: switchOption(
      'Take over what another program installed: write its manifest, and nothing else',
    ),
    ...common,
  },
  examples: [
    ['install --dry-run', 'print what would be done'],
    ['install --adopt', 'take over an installation of the Go release'],
  ],
  run: async (values, _given, more) =>
    (await upgradeHelper().nodeCommands()).runInstall(values, more),
});

/** `wins join`. */
export const joinCommand = command({
  name: 'join',
  summary: 'Install the daemon on this node and join a cluster',
  details:
    'The server is judged, and the node registered, before anything on the node changes. The token is read from CATTLE_TOKEN or a file. ' +
    EXIT_CODES,
  page: 'install.md',
  environment: CATTLE,
  options: {
    again: switchOption(
      'As the same node, with what it told the server at first, and another token',
    ),
    server: textOption('Address of Rancher', { placeholder: 'URL', completes: 'nothing' }),
    'ca-checksum': textOption('SHA-256 digest of what the server has at /cacerts', {
      placeholder: 'DIGEST',
      completes: 'nothing',
    }),
    'token-file': textOption('File with the token (default: CATTLE_TOKEN)', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    worker: switchOption('The node has the role of a worker'),
    label: listOption('Label of the node, KEY=VALUE; may be repeated', { placeholder: 'LABEL' }),
    taint: listOption('Taint of the node, KEY=VALUE:EFFECT; may be repeated', {
      placeholder: 'TAINT',
    }),
    'node-name': textOption('Name of the node', { placeholder: 'NAME', completes: 'nothing' }),
    address: textOption(
      'Address of the node, the name of an adapter, or a word such as awspublic; two with a comma',
      {
        placeholder: 'ADDRESS',
        completes: 'adapters',
      },
    ),
    'internal-address': textOption('Address of the node inside of its network', {
      placeholder: 'ADDRESS',
      completes: 'adapters',
    }),
    'strict-tls-verification': switchOption(
      'Trust only the authorities that the server has at /cacerts',
    ),
    'trust-machine': switchOption('Put these authorities also into the root store of the machine'),
    'winhttp-proxy': switchOption('Set the proxy of WinHTTP too, without its password'),
    ...install,
    ...asking,
    ...common,
  },
  examples: [
    ['join --server https://rancher.example.com --token-file token --worker', 'join'],
    ['join --again --token-file token', 'join a server that does not know this node any more'],
    ['join --dry-run', 'judge the server of the environment, and print what would be done'],
  ],
  run: async (values, _given, more) => (await upgradeHelper().nodeCommands()).runJoin(values, more),
});

/** `wins leave`. */
export const leaveCommand = command({
  name: 'leave',
  summary: 'Leave the cluster; the daemon stays',
  details: `The connection info, the authorities and the id of the node are removed: a node that joins again is a new machine. ${EXIT_CODES}`,
  page: 'install.md',
  options: common,
  examples: [['leave', 'follow no server any more']],
  run: async (values, _given, more) =>
    (await upgradeHelper().nodeCommands()).runLeave(values, more),
});

/** `wins uninstall`. */
export const uninstallCommand = command({
  name: 'uninstall',
  summary: 'Take away what was installed',
  details: `Exactly what the manifest of the installation names is removed; what was changed since stays, and is listed. ${EXIT_CODES}`,
  page: 'install.md',
  options: {
    'keep-data': switchOption('Leave config, connection info and what the agent keeps'),
    force: switchOption('Remove also what was changed since it was installed'),
    adopt: switchOption('First take over what another program installed'),
    ...common,
  },
  examples: [
    ['uninstall --dry-run', 'print what would be removed, and what stays'],
    ['uninstall', 'remove it'],
  ],
  run: async (values, _given, more) =>
    (await upgradeHelper().nodeCommands()).runUninstall(values, {
      ...more,
      removeCsiProxy: (config, isAdopted) => server().removeCsiProxy(config, isAdopted),
      endLastingRuns: (config, keepsOutput) =>
        server().endLastingRuns(config, { reason: 'uninstalled', keepsOutput }),
      removeNetwork: (config) => server().removeNetwork(config),
    }),
});

/** `wins suc`. */
export const sucCommand = command({
  name: 'suc',
  summary: 'Keep this node up to date, as a job of the system-upgrade-controller',
  details:
    'Connection info, authorities, settings and the program become what the environment of the job says; what is not set stays as it is. ' +
    `The daemon is restarted only if something that it runs with has changed. ${EXIT_CODES}`,
  page: 'install.md',
  environment: [
    ...CATTLE.slice(0, 3),
    ['STRICT_VERIFY', 'true or false: agentStrictTLSMode of the config'],
    ['CATTLE_WINS_...', 'all others: see the page'],
  ],
  options: {
    'rancher-compatible': switchOption(
      'What is not set has the meaning that it has for the original',
    ),
    ...asking,
    timeout: limitOption(
      'timeout',
      'For how long the server is asked again, such as 5m (default: 150s, as a job has 600)',
      LONGEST_MS,
    ),
    ...common,
  },
  examples: [['suc --dry-run', 'print what the job would do']],
  run: async (values, _given, more) => (await upgradeHelper().nodeCommands()).runSuc(values, more),
});

/** The commands about a node. */
export const nodeCommands = [
  installCommand,
  joinCommand,
  leaveCommand,
  uninstallCommand,
  sucCommand,
] as const;

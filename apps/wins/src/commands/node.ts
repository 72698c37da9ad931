import { command } from '../command-line/command.js';
import { limitOption, listOption, switchOption, textOption } from '../command-line/option.js';
import { upgradeHelper, server } from '../load-applications.js';
import { adapters } from './adapters.js';
import { textOutput, FILE } from './daemon-options.js';

const EXIT_CODES =
  'The exit code is 0 if the node is in the requested state, 1 if a step failed and all was rolled back, 64 for an invalid command line, 65 if ' +
  'the command was refused, 70 if it failed otherwise, 75 if another installation or upgrade ' +
  'is running.';

const LONGEST_MS = 3_600_000;
const helper = () => upgradeHelper().nodeCommands();

const common = {
  'dry-run': switchOption('Print what would be done, and do nothing'),
  wait: limitOption(
    'Time limit for the daemon to stop, and to become healthy, such as 2m (default: 60s)',
    LONGEST_MS,
  ),
  output: textOutput,
};
const install = {
  'allow-downgrade': switchOption('Allow an older release'),
  'delayed-start': switchOption('Start the service with a delay after the system starts'),
};
const asking = {
  'allow-http': switchOption(
    'Allow a server without TLS: the token crosses the network in clear text',
  ),
  timeout: limitOption('How long to retry the server, such as 5m (default: 15m)', LONGEST_MS),
};
const CATTLE: readonly (readonly [string, string])[] = [
  ['CATTLE_SERVER', 'as --server'],
  ['CATTLE_TOKEN', 'the token of the cluster'],
  ['CATTLE_CA_CHECKSUM', 'as --ca-checksum'],
  ['CATTLE_...', 'all others: see the documentation'],
];

export const installCommand = command({
  name: 'install',
  summary: 'Install the daemon on this node',
  details: `Installs this program. ${EXIT_CODES}`,
  page: 'install.md',
  options: {
    ...install,
    adopt: switchOption('Adopt an installation made by another program: only write its manifest'),
    ...common,
  },
  examples: [
    ['install --dry-run', 'print what would be done'],
    ['install --adopt', 'adopt an installation of the Go release'],
  ],
  handler: async () => (await helper()).runInstall,
});

export const joinCommand = command({
  name: 'join',
  summary: 'Install the daemon on this node and join a cluster',
  details:
    'Verifies the server and registers the node before it changes anything on the node. Reads the token from CATTLE_TOKEN or a file. ' +
    EXIT_CODES,
  page: 'install.md',
  environment: CATTLE,
  options: {
    again: switchOption(
      'Join as the same node, with the options of the last join and another token',
    ),
    server: textOption('Address of Rancher', { placeholder: 'URL' }),
    'ca-checksum': textOption('SHA-256 digest of /cacerts of the server', {
      placeholder: 'DIGEST',
    }),
    'token-file': textOption('File with the token (default: CATTLE_TOKEN)', FILE),
    worker: switchOption('Give the node the worker role'),
    label: listOption('Label of the node, KEY=VALUE; repeatable', { placeholder: 'LABEL' }),
    taint: listOption('Taint of the node, KEY=VALUE:EFFECT; repeatable', { placeholder: 'TAINT' }),
    'node-name': textOption('Name of the node', { placeholder: 'NAME' }),
    address: textOption(
      'Address of the node, an adapter name, or a keyword such as awspublic; ' +
        'or two of these, separated by a comma',
      { placeholder: 'ADDRESS', completes: adapters },
    ),
    'internal-address': textOption('Address of the node in its private network', {
      placeholder: 'ADDRESS',
      completes: adapters,
    }),
    'strict-tls-verification': switchOption(
      'Trust only the certificate authorities in /cacerts of the server',
    ),
    'trust-machine': switchOption(
      'Also add the authorities in /cacerts to the root store of the machine',
    ),
    'winhttp-proxy': switchOption('Also set the proxy of WinHTTP, without its password'),
    ...install,
    ...asking,
    ...common,
  },
  examples: [
    ['join --server https://rancher.example.com --token-file token --worker', 'join'],
    ['join --again --token-file token', 'join a server that no longer knows this node'],
    ['join --dry-run', 'verify the server named in the environment, and print what would be done'],
  ],
  handler: async () => (await helper()).runJoin,
});

export const leaveCommand = command({
  name: 'leave',
  summary: 'Leave the cluster; the daemon stays',
  details:
    'Removes the connection info, the certificate authorities of the server and the id of the ' +
    `node: to Rancher, a node that joins again is a new machine. ${EXIT_CODES}`,
  page: 'install.md',
  options: common,
  examples: [['leave', 'leave the server']],
  handler: async () => (await helper()).runLeave,
});

export const uninstallCommand = command({
  name: 'uninstall',
  summary: 'Remove the installation',
  details: `Removes exactly the parts in the manifest of the installation; keeps and lists the parts that were changed since. ${EXIT_CODES}`,
  page: 'install.md',
  options: {
    'keep-data': switchOption('Keep config, connection info and the data of the agent'),
    force: switchOption('Also remove parts that were changed since the installation'),
    adopt: switchOption('First adopt an installation made by another program'),
    ...common,
  },
  examples: [
    ['uninstall --dry-run', 'print what would be removed, and what stays'],
    ['uninstall', 'remove it'],
  ],
  handler: async () => {
    const { runUninstall } = await helper();
    const { removeFeatures } = server();
    return (values, more) => runUninstall(values, { ...more, removeFeatures });
  },
});

export const sucCommand = command({
  name: 'suc',
  summary: 'Keep this node up to date, as a job of the system-upgrade-controller',
  details:
    'Updates the program. Sets connection info, certificate authorities and settings from the ' +
    'environment of the job; keeps what is not set there. ' +
    `Restarts the daemon only if something that it runs with has changed. ${EXIT_CODES}`,
  page: 'install.md',
  environment: [
    ...CATTLE.slice(0, 3),
    ['STRICT_VERIFY', 'true or false: agentStrictTLSMode of the config'],
    ['CATTLE_WINS_...', 'all others: see the documentation'],
  ],
  options: {
    'rancher-compatible': switchOption('Interpret unset variables as the Go release does'),
    ...asking,
    timeout: limitOption(
      'How long to retry the server, such as 5m (default: 150s, because a job has 600s)',
      LONGEST_MS,
    ),
    ...common,
  },
  examples: [['suc --dry-run', 'print what the job would do']],
  handler: async () => (await helper()).runSuc,
});

export const nodeCommands = [
  installCommand,
  joinCommand,
  leaveCommand,
  uninstallCommand,
  sucCommand,
] as const;

import { command, type Group } from '../command-line/command.js';
import {
  digestOption,
  durationOption,
  nameOption,
  numberOption,
  requiredOption,
  switchOption,
  textOption,
} from '../command-line/option.js';
import { client, server } from '../load-applications.js';
import { allowDropOption, guardedKeys } from './allow-drop.js';
import { hostGroups } from './cli-host.js';
import { processes } from './cli-prc.js';
import { proxy } from './cli-proxy.js';
import {
  daemonOptions,
  outputOfOriginal,
  PIPE_ENVIRONMENT,
  textOutput,
  verdictOutput,
  waitTimeoutOption,
  FILE,
} from './daemon-options.js';

const info = command({
  name: 'info',
  summary: 'Print the versions of the client and the daemon',
  details:
    'Remembers the checksum of this program, which takes long to compute, in the cache folder of its user (rancher-wins).',
  page: 'compatibility.md',
  environment: PIPE_ENVIRONMENT,
  options: { output: outputOfOriginal, ...daemonOptions() },
  examples: [
    ['cli app info', 'JSON, with the same fields in every release'],
    ['cli app info -o name', 'only the two versions: the cheapest probe of a daemon'],
    [
      'cli app info -o table --wait-timeout 30s',
      'wait until the daemon is ready, and print a table',
    ],
  ],
  handler: () => client().showInfo,
});

export const app: Group = {
  name: 'app',
  aliases: ['application'],
  summary: 'Versions of the client and the daemon',
  page: 'compatibility.md',
  commands: [info],
};

export const explain = command({
  name: 'explain',
  summary: 'Print whether the daemon would allow a program or a port, and if not, why',
  details:
    'Starts no program and opens no connection. The exit code is 126 if the daemon would refuse.',
  page: 'config.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    path: textOption('Program of the host', FILE),
    sha256: digestOption('With --path: SHA-256 digest of the file in this container'),
    port: numberOption('Port of the host, judged for TCP and for UDP'),
    output: verdictOutput,
    ...daemonOptions(),
  },
  examples: [
    ['cli explain --path c:/etc/nginx/nginx.exe', 'may this container run the program?'],
    ['cli explain --port 9796 -o json', 'may it reach the port? answered as JSON'],
  ],
  handler: () => client().explain,
});

export const deliver = command({
  name: 'deliver',
  summary: 'Copy a file from this container to a mounted folder of the host',
  details:
    'The file is replaced atomically: readers see the old content or the new. The folder must exist. A new config may not drop ' +
    `the keys ${guardedKeys}, ` +
    'unless --allow-drop names it.',
  page: 'upgrade.md',
  options: {
    from: requiredOption('File to copy', 'the file to copy', FILE),
    to: requiredOption('File to write, below the mounted folder', 'the file to write', FILE),
    merge: switchOption(
      'Merge the keys of --from into the config at --to, and keep its other keys',
    ),
    base: textOption('Config of the host to start from if --to does not exist yet', FILE),
    'allow-drop': allowDropOption,
    sha256: digestOption('SHA-256 digest that the file must have'),
    settle: durationOption(
      '0s',
      'How long to wait after the file has changed; the daemon notices a new config within 5s',
    ),
    'wait-timeout': waitTimeoutOption('1m', 'another program that has the file open'),
    output: textOutput,
  },
  examples: [
    ['cli deliver --from wins.yaml --to c:/host/wins/config --settle 5s', 'install a config'],
    [
      'cli deliver --merge --from keys.yaml --to c:/host/wins/config',
      'set only the keys that keys.yaml has',
    ],
  ],
  handler: () => (values, more) => client().deliver({ ...values, configs: server }, more),
});

export const upgrade = command({
  name: 'upgrade',
  summary: 'Upgrade the daemon to another release',
  details:
    'The daemon runs the new release as a helper, which replaces the daemon. The command waits, then asks the new daemon for the result.',
  page: 'upgrade.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    path: requiredOption(
      'Path of the new release, wins-upgrade.exe, the same here and on the host',
      'the path of the new release',
      FILE,
    ),
    from: textOption('File to copy to --path if no file is there yet', FILE),
    once: nameOption(
      'Name of this upgrade; a rolled-back upgrade is not retried under the same name',
      48,
    ),
    config: textOption('Config file that the service must use', FILE),
    'allow-drop': allowDropOption,
    output: textOutput,
    ...daemonOptions('5m'),
  },
  examples: [
    ['cli upgrade --path c:/etc/rancher/wins-upgrade.exe', 'upgrade to this release'],
    [
      'cli upgrade --path c:/etc/rancher/wins-upgrade.exe --from c:/wins.exe',
      'copy it there first',
    ],
  ],
  handler: () => (values, more) => client().upgradeDaemon({ ...values, configs: server }, more),
});

export const cli: Group = {
  name: 'cli',
  aliases: ['client'],
  summary: 'Use the host through the daemon',
  page: 'errors.md',
  commands: [app, processes, proxy, explain, upgrade, deliver, ...hostGroups],
};

import { command, type Group } from '@wins/command-line';
import { client } from '../load-applications.js';
import { deliver } from './cli-deliver.js';
import { explain } from './cli-explain.js';
import { hostGroups } from './cli-host.js';
import { processes } from './cli-prc.js';
import { proxy } from './cli-proxy.js';
import { upgrade } from './cli-upgrade.js';
import { daemonOptions, outputOfOriginal, PIPE_ENVIRONMENT } from './daemon-options.js';

const info = command({
  name: 'info',
  summary: 'Print the versions of the client and the daemon',
  page: 'compatibility.md',
  environment: PIPE_ENVIRONMENT,
  options: { output: outputOfOriginal, ...daemonOptions() },
  examples: [
    ['cli app info', 'JSON, with the same fields in every release'],
    [
      'cli app info -o table --wait-timeout 30s',
      'wait for a daemon that is not ready, and print a table',
    ],
  ],
  run: (values, _given, more) => client().showInfo(values, more),
});

/** `wins cli` */
export const cli: Group = {
  name: 'cli',
  aliases: ['client'],
  summary: 'Use the host through the daemon',
  page: 'errors.md',
  commands: [
    {
      name: 'app',
      aliases: ['application'],
      summary: 'Versions of the client and the daemon',
      page: 'compatibility.md',
      commands: [info],
    },
    processes,
    proxy,
    explain,
    upgrade,
    deliver,
    ...hostGroups,
  ],
};

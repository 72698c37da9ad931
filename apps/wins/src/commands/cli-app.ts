import { command, type Group } from '../command-line/command.js';
import { client } from '../load-applications.js';
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
      'wait until the daemon is ready, and print a table',
    ],
  ],
  run: (values, _given, more) => client().showInfo(values, more),
});

export const app: Group = {
  name: 'app',
  aliases: ['application'],
  summary: 'Versions of the client and the daemon',
  page: 'compatibility.md',
  commands: [info],
};

import { command } from '../command-line/command.js';
import { digestOption, numberOption, textOption } from '../command-line/option.js';
import { client } from '../load-applications.js';
import { daemonOptions, PIPE_ENVIRONMENT, verdictOutput } from './daemon-options.js';

export const explain = command({
  name: 'explain',
  summary: 'Print whether the daemon would allow a program or a port, and if not, why',
  details: 'Starts and connects nothing. The exit code is 126 if the daemon would refuse it.',
  page: 'config.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    path: textOption('Program of the host', { placeholder: 'FILE', completes: 'files' }),
    sha256: digestOption('sha256', 'With --path: SHA-256 digest of the file in this container'),
    port: numberOption('port', 'port of the host, by TCP and by UDP'),
    output: verdictOutput,
    ...daemonOptions(),
  },
  examples: [
    ['cli explain --path c:/etc/nginx/nginx.exe', 'may this container run the program?'],
    ['cli explain --port 9796 -o json', 'may it reach the port? answered as JSON'],
  ],
  run: (values, _given, more) => client().explain(values, more),
});

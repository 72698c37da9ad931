import { command, digestOption, numberOption, textOption } from '@wins/command-line';
import { client } from '../load-applications.js';
import { daemonOptions, dataOutput, PIPE_ENVIRONMENT } from './daemon-options.js';

/** `wins cli explain` */
export const explain = command({
  name: 'explain',
  summary: 'Say whether the daemon would allow a program or a port, and why not',
  details: 'Nothing is tried. Ends with 126 when it would be refused.',
  page: 'config.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    path: textOption('A program of the host', { placeholder: 'FILE', completes: 'files' }),
    sha256: digestOption('sha256', 'With --path: the SHA-256 digest that this client sees'),
    port: numberOption('port', 'A TCP port of the host'),
    output: dataOutput,
    ...daemonOptions(),
  },
  examples: [
    ['cli explain --path c:/etc/nginx/nginx.exe', 'may this container run it?'],
    ['cli explain --port 9796 -o json', 'may it reach that port? for programs'],
  ],
  run: (values, _given, more) => client().explain(values, more),
});

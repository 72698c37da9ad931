import { command } from '../command-line/command.js';
import { numberOption, switchOption } from '../command-line/option.js';
import { server } from '../load-applications.js';
import { configOption, PIPE_ENVIRONMENT } from './daemon-options.js';

export const logs = command({
  name: 'logs',
  summary: "Print the daemon's own log",
  details:
    'On Windows the log of the service; elsewhere the file that receives standard error of the daemon. The output of a run goes to the ' +
    'client that started it.',
  page: 'troubleshooting.md',
  environment: [...PIPE_ENVIRONMENT, ['NO_COLOR', 'if not empty, there are no colors']],
  options: {
    config: configOption,
    follow: { ...switchOption('Follow the log until Ctrl-C'), short: 'f' },
    lines: {
      ...numberOption('lines', 'Number of the newest lines to print first (default: 100)'),
      short: 'n',
    },
  },
  examples: [
    ['logs', 'the newest 100 lines'],
    ['logs -f', 'and follow the log'],
  ],
  run: (values, _given, more) => server().showLogs(values, more),
});

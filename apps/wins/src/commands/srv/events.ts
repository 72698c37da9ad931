import { switchOption } from '../../command-line/option.js';
import { command } from '../../command-line/command.js';
import { server } from '../../load-applications.js';
import { recordsOutput, sinceOption } from '../daemon-options.js';
import { inherits, ofDaemon } from './options.js';

export const eventsCommand = command({
  name: 'events',
  summary: 'Print the recent events of the daemon, oldest first',
  details:
    'The last 10,000 decisions, ends of runs, reloads, upgrades, plans and faults. When no daemon answers, reads them from the disk.',
  page: 'observability.md',
  inherits,
  options: {
    ...ofDaemon,
    follow: switchOption('Follow the events until Ctrl-C', { short: 'f' }),
    since: sinceOption('events'),
    output: recordsOutput,
  },
  examples: [
    ['srv events --since 2h', 'the last two hours'],
    ['srv events -f -o json', 'one JSON object per line, as it happens'],
  ],
  run: (values, _given, more) => server().showEvents(values, more),
});

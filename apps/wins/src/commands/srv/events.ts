import { choiceOption, switchOption, textOption } from '../../command-line/option.js';
import { command } from '../../command-line/command.js';
import { server } from '../../load-applications.js';
import { FORMS } from '../daemon-options.js';
import { inherits, ofDaemon } from './options.js';

/** `wins srv events` */
export const eventsCommand = command({
  name: 'events',
  summary: 'Print what happened in the daemon lately, oldest first',
  details:
    'The last 10,000 decisions, ends of runs, reloads, upgrades, plans and faults. When no daemon answers, they are read from the disk.',
  page: 'observability.md',
  inherits,
  options: {
    ...ofDaemon,
    follow: switchOption('Go on printing events as they happen', { short: 'f' }),
    since: textOption('Only events since this time: 90s, 2h30m or 7d ago, or 2026-03-01T12:00Z', {
      placeholder: 'TIME',
      completes: 'nothing',
    }),
    output: {
      ...choiceOption('output', ['table', 'json', 'yaml', 'name'] as const, FORMS, {
        short: 'o',
        placeholder: 'FORM',
      }),
      byDefault: 'table',
    },
  },
  examples: [
    ['srv events --since 2h', 'the last two hours'],
    ['srv events -f -o json', 'one JSON object per line, as it happens'],
  ],
  run: (values, _given, more) => server().showEvents(values, more),
});

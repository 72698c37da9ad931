import { quoteText, UsageError } from '@wins/wins-program';
import { command } from '../command-line/command.js';
import { readOption, requiredOption, textOption } from '../command-line/option.js';
import { client } from '../load-applications.js';
import { daemonOptions, PIPE_ENVIRONMENT, textOutput } from './daemon-options.js';

/** `wins cli upgrade` */
export const upgrade = command({
  name: 'upgrade',
  summary: 'Upgrade the daemon to another release',
  details:
    'The daemon that is replaced runs the helper. How it ended is asked of the daemon that is there then.',
  page: 'upgrade.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    path: requiredOption(
      'The new release, wins-upgrade, the same here and on the host',
      'the path of the new release',
      { placeholder: 'FILE', completes: 'files' },
    ),
    from: textOption('Where to copy it from when it is not at --path', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    once: readOption(
      'A name for this upgrade: one that was rolled back is not tried again',
      (name) => {
        if (/^[0-9A-Za-z-]{1,48}$/.test(name)) return name;
        throw new UsageError(
          `--once: ${quoteText(name)} is not a name; wanted up to 48 letters, digits and dashes`,
        );
      },
      { placeholder: 'NAME', completes: 'nothing' },
    ),
    config: textOption('The config that the service must read', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    output: textOutput,
    ...daemonOptions('5m'),
  },
  examples: [
    ['cli upgrade --path c:/etc/rancher/wins-upgrade.exe', 'replace the daemon by that release'],
    [
      'cli upgrade --path c:/etc/rancher/wins-upgrade.exe --from c:/wins.exe',
      'bring it there first',
    ],
  ],
  run: (values, _given, more) => client().upgradeDaemon(values, more),
});

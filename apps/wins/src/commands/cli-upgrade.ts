import { quoteText, UsageError } from '@wins/base';
import { command } from '../command-line/command.js';
import { readOption, requiredOption, textOption } from '../command-line/option.js';
import { client, server } from '../load-applications.js';
import { allowDropOption } from './allow-drop.js';
import { daemonOptions, PIPE_ENVIRONMENT, textOutput } from './daemon-options.js';

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
      { placeholder: 'FILE', completes: 'files' },
    ),
    from: textOption('File to copy to --path if there is none', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    once: readOption(
      'Name of this upgrade; one that was rolled back is not retried under the same name',
      (name) => {
        if (/^[0-9A-Za-z-]{1,48}$/.test(name)) return name;
        throw new UsageError(
          `--once: ${quoteText(name)} is not a valid name; wanted up to 48 letters, digits and dashes`,
        );
      },
      { placeholder: 'NAME', completes: 'nothing' },
    ),
    config: textOption('Config file that the service must use', {
      placeholder: 'FILE',
      completes: 'files',
    }),
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
  run: (values, _given, more) => client().upgradeDaemon({ ...values, configs: server }, more),
});

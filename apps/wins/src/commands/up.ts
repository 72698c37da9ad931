import { command } from '../command-line/command.js';
import {
  digestOption,
  limitOption,
  listOption,
  nameOption,
  numberOption,
  switchOption,
  textOption,
} from '../command-line/option.js';
import { server, upgradeHelper } from '../load-applications.js';
import { allowDropOption } from './allow-drop.js';
import { textOutput, FILE } from './daemon-options.js';

const LONGEST_WAIT_MS = 3_600_000;

/** Facts about the run that contains this `wins up` process. */
export type Inside = Parameters<Parameters<ReturnType<typeof upgradeHelper>['runInRun']>[1]>[1];

export const upIn = (inside?: Inside) =>
  command({
    name: 'up',
    aliases: ['upgrade'],
    summary: 'Upgrade the service to a new release',
    details:
      'Restores the old release if the new one does not serve. The exit code is 0 if the new release serves, 1 if the old one was ' +
      'restored, 64 for an invalid command line, 65 if the upgrade was refused, 70 if it failed, 75 if another upgrade is running.',
    page: 'upgrade.md',
    options: {
      path: textOption('The new release (default: this program)', FILE),
      sha256: digestOption('SHA-256 digest that the new release must have'),
      'wins-args': textOption(
        'New arguments of the service: "--config FILE" (default: unchanged)',
        { placeholder: 'ARGS' },
      ),
      'expect-config': textOption('Refuse the upgrade unless the service uses this config', FILE),
      'allow-downgrade': switchOption('Allow an older release'),
      'allow-drop': allowDropOption,
      wait: limitOption(
        'Time limit for the service to stop, and to serve again, such as 5m or 1h (default: 60s)',
        LONGEST_WAIT_MS,
      ),
      service: textOption('Name of the service (default: that of the daemon)', {
        placeholder: 'NAME',
      }),
      'dry-run': switchOption('Print what would be done, and do nothing'),
      'show-result': switchOption('Print the result of the latest upgrade, and do nothing'),
      id: nameOption(
        'Name of this upgrade, repeated in its result. With --show-result: the upgrade to report',
        64,
      ),
      output: textOutput,
      // Internal options, which one `wins up` process passes to another.
      apart: switchOption('', { isHidden: true }),
      sweep: switchOption('', { isHidden: true }),
      'asked-by': textOption('', { isHidden: true }),
      attempt: { ...numberOption('', 999), isHidden: true },
      'known-version': listOption('', { isHidden: true }),
    },
    examples: [
      ['up --path c:/new/wins.exe --dry-run', 'print what would be done'],
      ['up --path c:/new/wins.exe', 'upgrade'],
      ['up --show-result', 'the result of the latest upgrade'],
    ],
    handler: () => (values, more) =>
      upgradeHelper().runUpgrade(values, {
        ...more,
        inside,
        refuseDrops: (config) => server().refuseDrops(config),
      }),
  });

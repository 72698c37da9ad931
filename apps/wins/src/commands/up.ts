import { messageOf, parseDuration, quoteText, UsageError } from '@wins/wins-program';
import {
  command,
  digestOption,
  listOption,
  readOption,
  switchOption,
  textOption,
} from '@wins/command-line';
import { upgradeHelper } from '../load-applications.js';
import { textOutput } from './daemon-options.js';

const WAIT = { minMs: 1, maxMs: 3_600_000 };

function readWait(text: string): number {
  try {
    return parseDuration(text, WAIT);
  } catch (cause) {
    throw new UsageError(`--wait: ${messageOf(cause)}`, { cause });
  }
}

function matching(name: string, pattern: RegExp, wanted: string) {
  return (text: string): string => {
    if (pattern.test(text)) return text;
    throw new UsageError(`--${name}: found ${quoteText(text)}; wanted ${wanted}`);
  };
}

/** What `wins up` knows of the run that it is in. */
export type Inside = Parameters<Parameters<ReturnType<typeof upgradeHelper>['runInRun']>[1]>[1];

/** `wins up`, in a run of a daemon or, as mostly, in none. */
export const upIn = (inside?: Inside) =>
  command({
    name: 'up',
    aliases: ['upgrade'],
    summary: 'Replace the program of the service of the daemon, or leave it as it was',
    details:
      'Ends with 0 when the wanted release serves, 1 when the old one serves again, 64 when the command line makes no ' +
      'sense, 65 when the upgrade was refused, 70 when it failed, 75 when another upgrade is under way.',
    page: 'upgrade.md',
    environment: [
      [
        'WINS_SERVICE',
        'elsewhere than on Windows: the file that stands for the service, without --service',
      ],
    ],
    options: {
      path: textOption('The new program; default: this one', {
        placeholder: 'FILE',
        completes: 'files',
      }),
      sha256: digestOption('sha256', 'Refuse a program with another SHA-256'),
      'wins-args': textOption(
        'Arguments of the service, in place of those it has: "--config FILE"',
        { placeholder: 'ARGS', completes: 'nothing' },
      ),
      'expect-config': textOption('Refuse unless this is the config that the service reads', {
        placeholder: 'FILE',
        completes: 'files',
      }),
      'allow-downgrade': switchOption('Take an older release as well'),
      wait: readOption(
        'How long the service may take to end, and to serve: 60s, 5m, 1h; default: 60s',
        readWait,
        { placeholder: 'TIME', completes: 'nothing' },
      ),
      service: textOption('The service; default: that of the daemon', {
        placeholder: 'NAME',
        completes: 'nothing',
      }),
      'dry-run': switchOption('Say what would be done'),
      'show-result': switchOption('Say how the latest upgrade ended, and do nothing'),
      id: readOption(
        'A name for this upgrade, which its result will have',
        matching('id', /^[0-9A-Za-z-]{1,64}$/, 'up to 64 letters, digits and dashes'),
        { placeholder: 'NAME', completes: 'nothing' },
      ),
      output: textOutput,
      // What helpers say to each other.
      apart: switchOption('', { isHidden: true }),
      sweep: switchOption('', { isHidden: true }),
      'asked-by': textOption('', { isHidden: true }),
      attempt: readOption(
        '',
        (text) => Number(matching('attempt', /^\d{1,3}$/, 'a number')(text)),
        {
          isHidden: true,
        },
      ),
      'known-version': listOption('', { isHidden: true }),
    },
    examples: [
      ['up --path c:/new/wins.exe --dry-run', 'say what would be done'],
      ['up --path c:/new/wins.exe', 'do it'],
      ['up --show-result', 'how the latest one ended'],
    ],
    run: (values, _given, more) => upgradeHelper().runUpgrade(values, { ...more, inside }),
  });

import { UpgradeError } from '@wins/service-upgrade';

/** Options that decide nothing but what is told, and whether the upgrade is refused. */
const ALLOWED = [
  ...['json', 'id', 'sha256', 'expect-config', 'dry-run', 'show-result', 'help', 'version'],
] as const;

/** What to do instead. */
const INSTEAD: Readonly<Partial<Record<string, string>>> = {
  'wins-args':
    'the service stays registered as it is: bring the config to the path that it is registered with (wins cli deliver), or change the registration on the host itself (wins-upgrade up --wins-args)',
  path: 'what is offered is the program that the daemon runs',
  service: 'what is upgraded is the service of the daemon that runs this',
  quiet: 'nobody who asks through a daemon can silence what it says',
  'allow-downgrade': 'an older release is taken on the host itself only',
};

/** The words of a command line, as they were read. */
export interface WordsOfRun {
  readonly commands: readonly string[];
  /** The names of the options that were given. */
  readonly options: readonly string[];
}

/**
 * Judges what was said to wins in a run of a daemon, where the words are those of whoever has the pipe: they may offer the bytes
 * that the daemon runs to the service as it is registered, and ask what came of it. Pure.
 *
 * @throws UpgradeError `refused`, which says what may be said.
 */
export function requireWordsOfRun({ commands, options }: WordsOfRun): void {
  const [command, ...more] = commands;
  if (more.length > 0 || (command !== undefined && command !== 'up' && command !== 'upgrade')) {
    throw refusal(`found the words "${commands.join(' ')}"`);
  }
  const refused = options.find((option) => !(ALLOWED as readonly string[]).includes(option));
  if (refused !== undefined) throw refusal(`found --${refused}`, INSTEAD[refused]);
  if (command === undefined && !options.includes('help') && !options.includes('version')) {
    throw refusal('found no command');
  }
}

/** The refusal of words in a run, whoever found them. */
export function refusal(found: string, instead?: string): UpgradeError {
  const wanted = `wanted up, with nothing but ${ALLOWED.map((name) => `--${name}`).join(', ')}`;
  const more = instead === undefined ? '' : `; ${instead}`;
  return new UpgradeError(
    'refused',
    `cannot do this in a run of a daemon: ${found}; ${wanted}${more}`,
  );
}

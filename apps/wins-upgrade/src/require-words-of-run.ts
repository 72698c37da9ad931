import { UpgradeError } from '@wins/service-upgrade';
import { OPTION_LIST, OPTIONS, type OptionName } from './options.js';

const ALLOWED = OPTION_LIST.filter(([, { inRun }]) => inRun === true).map(([name]) => `--${name}`);

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
  const refused = options.find((option) => !ALLOWED.includes(`--${option}`));
  if (refused !== undefined) throw refusal(`found --${refused}`, insteadOf(refused));
  if (command === undefined && !options.includes('help') && !options.includes('version')) {
    throw refusal('found no command');
  }
}

function insteadOf(name: string): string | undefined {
  if (!Object.hasOwn(OPTIONS, name)) return undefined;
  const option = OPTIONS[name as OptionName];
  return 'inRun' in option && option.inRun !== true ? option.inRun : undefined;
}

/** The refusal of words in a run, whoever found them. */
export function refusal(found: string, instead?: string): UpgradeError {
  const wanted = `wanted up, with nothing but ${ALLOWED.join(', ')}`;
  const more = instead === undefined ? '' : `; ${instead}`;
  return new UpgradeError(
    'refused',
    `cannot do this in a run of a daemon: ${found}; ${wanted}${more}`,
  );
}

import { UpgradeError, WATCHED_PREFIX, withoutQuotes } from '@wins/service-upgrade';
import { quoteText } from '@wins/base';
import type { UpgradeCommand } from './command-of.js';
import type { DaemonRun } from './enter-run.js';

/**
 * Options that `wins up` accepts in a run of a daemon, where any client of the pipe chooses the arguments. They only affect the output and whether
 * the upgrade is refused. Every other option is refused, including future ones.
 */
const ALLOWED: Readonly<Record<string, 'switch' | 'value'>> = {
  sha256: 'value',
  'expect-config': 'value',
  'dry-run': 'switch',
  'show-result': 'switch',
  id: 'value',
  json: 'switch',
  help: 'switch',
  version: 'switch',
};

const SHORT: Readonly<Record<string, string>> = { '-h': 'help', '-v': 'version' };

const INSTEAD: Readonly<Record<string, string>> = {
  path: 'the daemon offers the program that it runs',
  'wins-args':
    'a client cannot change the registration of the service: deliver the config to the registered path (wins cli deliver), or run "wins-upgrade up --wins-args" on the host',
  'allow-drop':
    'pass it where the config is delivered: wins cli deliver --allow-drop, or wins cli upgrade --config with --allow-drop',
  'allow-downgrade': 'run "wins up" on the host to install an older release',
  service: 'the upgrade concerns the service of the daemon that runs this',
  quiet: 'a client cannot silence what an upgrade prints',
};

/**
 * Checks the arguments of this program when a daemon runs it for a client. The client may do two things only: it may offer this program as an
 * upgrade of the daemon's service, and it may query the result of an upgrade.
 * @returns `up`, and each option with its value in one word. Pass only these to the parser.
 * @throws UpgradeError `refused`, which lists the allowed options.
 */
export function requireWordsOfRun(argv: readonly string[]): string[] {
  const commands: string[] = [];
  const options = new Map<string, string>();
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (!word.startsWith('-')) {
      commands.push(word);
      continue;
    }
    const [, long, equals] = /^--?([a-z][a-z0-9-]+)(=[^]*)?$/.exec(word) ?? [];
    const name = long ?? (Object.hasOwn(SHORT, word) ? SHORT[word] : undefined);
    const kind = name !== undefined && Object.hasOwn(ALLOWED, name) ? ALLOWED[name] : undefined;
    if (name === undefined) throw refusal(`found ${quoteText(word)}`);
    if (kind === undefined) {
      const instead = Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : undefined;
      throw refusal(`found --${name}`, instead);
    }
    if (kind === 'switch') {
      if (equals !== undefined) throw refusal(`found an invalid word (--${name} with a value)`);
      options.set(name, `--${name}`);
    } else {
      const value = equals?.slice(1) ?? argv[(index += 1)];
      if (value === undefined) throw refusal(`found an invalid word (--${name} without a value)`);
      options.set(name, `--${name}=${withoutQuotes(value)}`);
    }
  }
  const [command, ...more] = commands;
  if (more.length > 0 || (command !== undefined && command !== 'up' && command !== 'upgrade'))
    throw refusal(`found the words "${commands.join(' ')}"`);
  if (command === undefined && !options.has('help') && !options.has('version'))
    throw refusal('found no command');
  return ['up', ...options.values()];
}

/** @throws UpgradeError `refused` for an `id` reserved for upgrades that a daemon starts by itself. */
export function decidedByRun({ service, name }: DaemonRun, { id }: Pick<UpgradeCommand, 'id'>) {
  if (id?.startsWith(WATCHED_PREFIX) !== true) return { service, askedBy: name };
  throw refusal(`found --id with a name that begins with ${WATCHED_PREFIX}`);
}

function refusal(found: string, instead?: string): UpgradeError {
  const allowed = Object.keys(ALLOWED).map((name) => `--${name}`);
  const wanted = `wanted up with only ${allowed.join(', ')}`;
  const more = instead === undefined ? '' : `; ${instead}`;
  return new UpgradeError(
    'refused',
    `cannot do this in a run of a daemon: ${found}; ${wanted}${more}`,
  );
}

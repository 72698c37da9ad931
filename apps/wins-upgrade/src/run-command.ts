import {
  findPaths,
  findProgress,
  readResult,
  UpgradeError,
  UpgradeLog,
  type UpgradeErrorCode,
  type UpgradeOutcome,
} from '@wins/service-upgrade';
import { escapeJson, EXIT, messageOf, type CommandSurroundings } from '@wins/base';
import { commandOf, type UpgradeCommand, type UpgradeOptions } from './command-of.js';
import { composeUpgrade, type UpgradeSettings } from './compose.js';
import { complain, isForPeople, tell } from './console.js';
import { enterRun, type DaemonRun } from './enter-run.js';
import { decidedByRun, requireWordsOfRun } from './require-words-of-run.js';
import { sweepHelpers, upgrade, type CommandOutcome } from './upgrade-command.js';

const { ok, refused, rolledBack, failed, busy } = EXIT.upgrade;
const EXIT_OF: Readonly<Record<UpgradeOutcome | 'handedOver', number>> = {
  upgraded: ok,
  nothing: ok,
  handedOver: ok,
  refused,
  rolledBack,
  failed,
};
const EXIT_OF_ERROR: Readonly<Partial<Record<UpgradeErrorCode, number>>> = { refused, busy };

export interface UpgradeSurroundings
  extends CommandSurroundings, Pick<UpgradeSettings, 'refuseDrops' | 'around'> {
  readonly inside?: DaemonRun | undefined;
}

/** Cleans the environment of a run and checks its arguments, before anything else reads them. */
export async function runInRun(
  argv: readonly string[],
  follow: (words: readonly string[], inside: DaemonRun) => Promise<number>,
): Promise<number> {
  // Clean the environment first, because a client chose it.
  const inside = enterRun();
  if (inside === undefined) throw new Error('this is not a run of a daemon');
  let words: readonly string[];
  try {
    words = requireWordsOfRun(argv);
  } catch (error) {
    const reason = messageOf(error);
    if (argv.includes('--json'))
      process.stdout.write(`${JSON.stringify({ outcome: 'refused', reason })}\n`);
    else complain(`wins: ${reason}`);
    return refused;
  }
  return follow(words, inside);
}

/** `wins up`: replaces the program of the daemon's service, or leaves it unchanged. */
export async function runUpgrade(
  options: UpgradeOptions,
  surroundings: UpgradeSurroundings,
): Promise<number> {
  const { inside, around, refuseDrops } = surroundings;
  let command = commandOf(options);
  try {
    if (inside !== undefined) command = { ...command, ...decidedByRun(inside, command) };
    if (options['show-result']) return await showResult(command, options, surroundings);
    if (options.sweep) {
      await sweepHelpers(await composeUpgrade({ ...command, log: new UpgradeLog() }));
      return ok;
    }
    const outcome = await upgrade(command, inside !== undefined, { around, refuseDrops });
    return await report(outcome, options, surroundings);
  } catch (error) {
    const code = error instanceof UpgradeError ? error.code : undefined;
    const reason = messageOf(error);
    const outcome = code === 'refused' ? 'refused' : 'failed';
    const exitCode = (code && EXIT_OF_ERROR[code]) ?? failed;
    const value = { id: command.id, outcome, reason };
    const answer = { value, names: namesOf(command), text: `wins: ${reason}` };
    await tell({ ...options, ...surroundings }, exitCode, answer);
    if (command.debug && error instanceof Error) complain(error.stack ?? '');
    return exitCode;
  }
}

async function report(
  outcome: CommandOutcome,
  options: UpgradeOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  if (outcome.outcome === 'planned') {
    await show({ value: outcome, text: outcome.text });
    return outcome.exitCode;
  }
  const exitCode = EXIT_OF[outcome.outcome];
  const warnings = 'configWarnings' in outcome ? outcome.configWarnings : undefined;
  if (isForPeople(options) && !options.quiet && warnings !== undefined) complain(warnings);
  const text = `wins: ${outcome.outcome}: ${outcome.reason}`;
  return tell({ ...options, show }, exitCode, { value: outcome, names: namesOf(outcome), text });
}

/**
 * Prints the result of the last upgrade; with an id, the result or the state of that upgrade. Without a result, a command on the host prints a
 * message if its output is text. With another output format, or in a run of a daemon, the command prints `null` instead.
 */
async function showResult(
  command: UpgradeCommand,
  options: UpgradeOptions,
  { inside, show }: UpgradeSurroundings,
): Promise<number> {
  const context = await composeUpgrade({ ...command, log: new UpgradeLog() });
  const { service } = context;
  const paths = await findPaths(service);
  if (command.id !== undefined) {
    const value = await findProgress(context, paths, command.id);
    const text = escapeJson(`${JSON.stringify(value, null, 2)}\n`);
    await show({ value, text, names: [command.id] });
    return ok;
  }
  const result = await readResult(paths);
  if (result !== undefined || !isForPeople(options) || inside !== undefined) {
    const text = result ?? 'null\n';
    const value = valueIn(text, paths.result);
    await show({ value, text: escapeJson(text), names: namesOf(value ?? {}) });
  } else if (!command.quiet) {
    complain(
      `wins: no upgrade of the service ${service.name} has ended here (${paths.result} does not exist)`,
    );
  }
  return ok;
}

function valueIn(text: string, file: string): { readonly id?: string } | null {
  try {
    return JSON.parse(text) as { id?: string } | null;
  } catch (cause) {
    const message = `cannot read ${file}: it is not the result of an upgrade`;
    throw new UpgradeError('fileFailed', message, { cause });
  }
}

const namesOf = ({ id }: { readonly id?: string | undefined }) => (id === undefined ? [] : [id]);

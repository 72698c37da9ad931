import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Around,
  conclude,
  describePlan,
  findPlaces,
  helpersIn,
  makeHelper,
  messageOf,
  performUpgrade,
  prepareUpgrade,
  readResult,
  tidy,
  type UpgradeContext,
  UpgradeError,
  type UpgradeErrorCode,
  UpgradeJournal,
  UpgradeLog,
  type UpgradeOutcome,
  type UpgradePlaces,
  type UpgradeResult,
  type UpgradeWish,
  withLock,
  writeResult,
} from '@wins/service-upgrade';
import {
  apartArguments,
  COMPLETIONS,
  parseCommandLine,
  USAGE,
  type UpgradeCommand,
} from './command-line.js';
import { composeUpgrade } from './compose-upgrade.js';
import { EXIT } from './exit-codes.js';
import { enterRun, type DaemonRun } from './enter-run.js';
import { decidedByRun, requireOwnDaemon } from './upgrade-in-run.js';
import { VERSION } from './version.js';

/** What a command came to: a result, a plan, or a helper that goes on. */
type Outcome =
  | UpgradeResult
  | { readonly outcome: 'planned'; readonly text: string; readonly exitCode: number }
  | {
      readonly outcome: 'handedOver';
      readonly id: string;
      readonly reason: string;
      readonly result: string;
      readonly log: string;
    };

const EXIT_OF: Readonly<Record<UpgradeOutcome, number>> = {
  upgraded: EXIT.ok,
  nothing: EXIT.ok,
  refused: EXIT.refused,
  rolledBack: EXIT.rolledBack,
  failed: EXIT.failed,
};
const EXIT_OF_ERROR: Readonly<Partial<Record<UpgradeErrorCode, number>>> = {
  usage: EXIT.usage,
  refused: EXIT.refused,
  busy: EXIT.busy,
};
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SWEEP_LIMIT_MS = 30_000;
const SWEEP_DELAY_MS = 50;
const COMPLETION_REQUEST = '--get-yargs-completions';

/**
 * Runs `wins up`.
 *
 * @param argv - Words after `wins`, as they were typed.
 * @param around - Sees every effect. Default: nobody does.
 * @returns The exit code, one of {@link EXIT}.
 */
export async function run(argv: readonly string[], around?: Around): Promise<number> {
  // First of all: what the environment says in a run is a client's.
  const inside = enterRun();
  if (inside === undefined && argv[0] === COMPLETION_REQUEST) {
    process.stdout.write(COMPLETIONS);
    return EXIT.ok;
  }
  // Whoever reads may go away as well.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  let command: UpgradeCommand | undefined;
  try {
    const said = parseCommandLine(argv, inside !== undefined);
    command = inside === undefined ? said : { ...said, ...decidedByRun(inside, said) };
    if (command.show === 'help' || command.show === 'version') {
      const text = command.show === 'help' ? USAGE : `rancher-wins version ${VERSION}\n`;
      process.stdout.write(text);
      return EXIT.ok;
    }
    if (command.show === 'result') return await showResult(command);
    if (command.sweep) return await sweepHelper(command);
    return report(await upgrade(command, inside, around), command);
  } catch (error) {
    const code = error instanceof UpgradeError ? error.code : undefined;
    const reason = messageOf(error);
    if (command?.json ?? argv.includes('--json')) {
      const id = command?.id;
      const outcome = code === 'refused' ? 'refused' : 'failed';
      process.stdout.write(`${JSON.stringify({ id, outcome, reason })}\n`);
    } else if (inside !== undefined || !argv.includes('--quiet'))
      process.stderr.write(`wins: ${printable(reason)}\n`);
    if (inside === undefined && argv.includes('--debug') && error instanceof Error) {
      process.stderr.write(`${printable(error.stack ?? '')}\n`);
    }
    return (code && EXIT_OF_ERROR[code]) ?? EXIT.failed;
  }
}

function report(outcome: Outcome, { json, quiet }: UpgradeCommand): number {
  if (outcome.outcome === 'planned') {
    process.stdout.write(json ? `${JSON.stringify(outcome)}\n` : outcome.text);
    return outcome.exitCode;
  }
  const exitCode = outcome.outcome === 'handedOver' ? EXIT.ok : EXIT_OF[outcome.outcome];
  if (json) process.stdout.write(`${JSON.stringify(outcome)}\n`);
  else if (!quiet) {
    const stream = exitCode === EXIT.ok ? process.stdout : process.stderr;
    stream.write(`wins: ${outcome.outcome}: ${printable(outcome.reason)}\n`);
  }
  return exitCode;
}

/** `wins up --show-result`: the result file, or `null` when there is none. */
async function showResult(command: UpgradeCommand): Promise<number> {
  const context = await composeUpgrade({ ...command, log: new UpgradeLog() });
  const places = await findPlaces(context, await context.service.query());
  process.stdout.write((await readResult(places)) ?? 'null\n');
  return EXIT.ok;
}

async function upgrade(
  command: UpgradeCommand,
  inside: DaemonRun | undefined,
  around: Around | undefined,
): Promise<Outcome> {
  const log = new UpgradeLog((line) => {
    if (command.debug) process.stderr.write(line);
  });
  const context = await composeUpgrade({ ...command, log, around });
  const handOver = inside !== undefined;
  if (handOver) await requireOwnDaemon(context);
  const task = async (): Promise<Outcome> => {
    const places = await findPlaces(context, await context.service.query());
    await context.host.requireTrustedFolder(path.dirname(places.target));
    await context.host.ensurePrivateFolder(places.folder);
    log.keepIn(places.log);
    log.write('asked', { version: VERSION, wish: command.wish, path: command.path });
    if (command.dryRun) return dryRun(context, places, command);
    if (!handOver) return perform(context, places, command);
    const early = await decideEarly(context, places, command.wish);
    if (early !== undefined) return early;
    const helper = await makeHelper(context, places, context.ownFile);
    await context.host.startApart(helper, apartArguments({ ...command, id: context.id }));
    return {
      outcome: 'handedOver',
      id: context.id,
      reason: `a helper of its own goes on; its result will be in ${places.result}`,
      ...{ result: places.result, log: places.log },
    };
  };
  const outcome = await (command.apart ? lockedApart(context, task) : withLock(context, task));
  if (command.apart) await removeHelper(context, command, outcome);
  return outcome;
}

/**
 * The helper removes itself. Where a program cannot be removed while it runs, the new release does it, which is known to be able to; after
 * another end the next upgrade does.
 */
async function removeHelper(
  { host, ownFile }: UpgradeContext,
  { service }: UpgradeCommand,
  outcome: Outcome,
): Promise<void> {
  try {
    await rm(ownFile, { force: true });
  } catch {
    if (outcome.outcome !== 'upgraded' || outcome.target === undefined) return;
    const words = ['up', '--sweep', ...(service === undefined ? [] : [`--service=${service}`])];
    await host.startApart(outcome.target, words).catch(() => undefined);
  }
}

/** Removes what helpers left, as soon as they have ended. */
async function sweepHelper(command: UpgradeCommand): Promise<number> {
  const context = await composeUpgrade({ ...command, log: new UpgradeLog() });
  const places = await findPlaces(context, await context.service.query());
  const end = performance.now() + SWEEP_LIMIT_MS;
  while ((await helpersIn(places)).length > 0 && performance.now() < end) {
    await withLock(context, () => tidy({ context, places }));
    await delay(SWEEP_DELAY_MS);
  }
  return EXIT.ok;
}

/**
 * Does what a helper that left its run was started for. Whoever asked for it waits for a result of this name, so there is one
 * also when the lock is not to be had.
 */
async function lockedApart(
  context: UpgradeContext,
  task: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await withLock(context, task, context.waitMs);
  } catch (error) {
    const places = await findPlaces(context, await context.service.query());
    const { target, log } = places;
    const found = { id: context.id, outcome: 'refused', reason: messageOf(error) } as const;
    await writeResult(context.effects, places, { ...found, target, log });
    throw error;
  }
}

async function perform(
  context: UpgradeContext,
  places: UpgradePlaces,
  command: UpgradeCommand,
): Promise<UpgradeResult> {
  using _signals = outliveSignals((signal) => context.log.write('goes on', { signal }));
  try {
    return await performUpgrade(context, places, command.path ?? context.ownFile, command.wish);
  } catch (error) {
    const isRefusal = error instanceof UpgradeError && error.code === 'refused';
    const result: UpgradeResult = {
      id: context.id,
      outcome: isRefusal ? 'refused' : 'failed',
      reason: `${messageOf(error)}; ${await describeNode(context)}`,
      target: places.target,
      log: places.log,
    };
    context.log.write('failed', { ...result });
    // A full disk has no place for a result either.
    await writeResult(context.effects, places, result).catch(() => undefined);
    return result;
  }
}

/**
 * A key, or a terminal that goes away, must not end an upgrade half-way: it comes to its own end, soon, either way. Disposing it
 * gives the signals back to Node.
 */
function outliveSignals(tell: (signal: NodeJS.Signals) => void): Disposable {
  for (const signal of SIGNALS) process.on(signal, tell);
  return {
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, tell);
    },
  };
}

async function describeNode({ service }: UpgradeContext): Promise<string> {
  try {
    const status = await service.query();
    if (status === undefined) return `now there is no service ${service.name}`;
    return `now the service is ${status.state} and names ${status.command.imagePath}`;
  } catch (error) {
    return `how the service is now is not known: ${messageOf(error)}`;
  }
}

async function dryRun(
  context: UpgradeContext,
  places: UpgradePlaces,
  command: UpgradeCommand,
): Promise<Outcome> {
  const pending = (await new UpgradeJournal(places, context.effects).read()) !== undefined;
  const first = pending ? 'first, an upgrade that was interrupted is finished or undone\n' : '';
  try {
    const program = command.path ?? context.ownFile;
    const { plan } = await prepareUpgrade(context, places, program, command.wish);
    return {
      outcome: 'planned',
      text: first + describePlan(plan),
      exitCode: plan.kind === 'refusal' ? EXIT.refused : EXIT.ok,
    };
  } finally {
    await tidy({ context, places });
  }
}

/** Whoever asked learns at once what needs no helper. */
async function decideEarly(
  context: UpgradeContext,
  places: UpgradePlaces,
  wish: UpgradeWish,
): Promise<UpgradeResult | undefined> {
  if ((await new UpgradeJournal(places, context.effects).read()) !== undefined) return undefined;
  try {
    const prepared = await prepareUpgrade(context, places, context.ownFile, wish);
    const { plan } = prepared;
    return plan.kind === 'steps' ? undefined : await conclude(context, places, prepared, plan);
  } finally {
    await tidy({ context, places });
  }
}

/** Text of others without what steers a terminal. */
function printable(text: string): string {
  return text.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

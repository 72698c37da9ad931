/** Commands for detached runs, which outlive this program and the daemon. */
import type { DetachedReadOptions, RunExit } from '@wins/wins-api';
import { EXIT, timeOption, UsageError } from '@wins/base';
import { CommandError } from '../../command-error.js';
import { showWaiting, withDaemonOfRun, type DaemonOptions } from '../../daemon/connect-daemon.js';
import { exitStatusOf, whyStopped } from '../../exit-status-of.js';
import { forEachName } from '../for-each-name.js';
import { OutputPrinter } from '../print-output.js';

export interface NamedRunOptions extends DaemonOptions {
  readonly name: string;
}

export interface NamedRunsOptions extends DaemonOptions {
  readonly names: readonly string[];
}

export interface LogsOptions extends NamedRunOptions {
  readonly follow: boolean;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly offset?: string | undefined;
  /** `all`: every line. */
  readonly tail?: number | 'all' | undefined;
  readonly timestamps: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export async function showRunLogs(options: LogsOptions): Promise<number> {
  const { follow, offset, tail, timestamps, stdout, stderr } = options;
  if (offset !== undefined && !/^\d{1,15}$/.test(offset))
    throw new UsageError(`--offset: found "${offset}"; wanted a number of bytes`);
  const until = timeOption('until', options.until);
  const wanted = {
    follow,
    offset: Number(offset ?? 0),
    since: timeOption('since', options.since),
    tailLines: tail === 'all' ? undefined : tail,
    only: stdout === stderr ? undefined : stdout ? ('stdout' as const) : ('stderr' as const),
  };
  using printer = new OutputPrinter({ quiet: options.quiet, timestamps });
  await printRun(options, wanted, printer, until);
  return printer.out.gone.aborted ? EXIT.client.readerGone : EXIT.client.ok;
}

export async function attachRun(options: NamedRunOptions): Promise<number> {
  using printer = new OutputPrinter(options);
  const exit = await printRun(options, { follow: true, tailLines: 0 }, printer);
  return printer.out.gone.aborted ? EXIT.client.readerGone : statusOf(exit, options);
}

export async function waitForRun(options: NamedRunOptions): Promise<number> {
  const exit = await withDaemonOfRun(options, async (client, answered, server) => {
    using daemon = showDaemonChanges(server, answered, options);
    return await client.detached.wait(options.name, daemon);
  });
  return statusOf(exit, options);
}

export const removeRuns = ofEach('remove');
/** Starts runs that were stopped, ended or given up; a run that waits for its restart starts at once. */
export const startAgain = ofEach('startAgain');
/** Ends living runs, and starts them again. */
export const restartRuns = ofEach('restart');

function ofEach(verb: 'remove' | 'startAgain' | 'restart') {
  return async (options: NamedRunsOptions): Promise<number> => {
    await forEachName(options.names, (name) =>
      withDaemonOfRun<unknown>(options, ({ detached }) => detached[verb](name)),
    );
    return EXIT.client.ok;
  };
}

/** Prints output, until a part of the time `until` or later. Later parts do not count, because clocks jump. Returns how the run ended. */
async function printRun(
  options: NamedRunOptions,
  wanted: DetachedReadOptions,
  { print, out }: OutputPrinter,
  until?: Date,
): Promise<RunExit | undefined> {
  if (wanted.follow === true) out.watch();
  /** Where output goes on when the task is repeated. */
  let rest: DetachedReadOptions = {};
  return withDaemonOfRun(options, async (client, answered, server) => {
    using daemon = showDaemonChanges(server, answered, options);
    const { onDaemonChange } = daemon;
    const { gone: signal } = out;
    try {
      const read = { ...wanted, ...rest, signal, onDaemonChange };
      for await (const part of client.detached.read(options.name, read)) {
        if (part.stream === 'end') return part.exit;
        const isLate = until !== undefined && 'writtenAt' in part && part.writtenAt >= until;
        if (isLate || !(await print(part))) return undefined;
        const bytes = typeof part.bytes === 'number' ? part.bytes : part.bytes.length;
        rest = { offset: part.offset + bytes, since: undefined, tailLines: undefined };
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return undefined;
  });
}

/** Shows while a task waits for the next daemon. */
function showDaemonChanges(server: string, answered: () => void, { quiet }: NamedRunOptions) {
  let waiting: Disposable | undefined;
  return {
    onDaemonChange: (state: 'serving' | 'gone'): void => {
      answered();
      waiting?.[Symbol.dispose]();
      waiting = state === 'gone' ? showWaiting(server, quiet) : undefined;
    },
    [Symbol.dispose]: () => waiting?.[Symbol.dispose](),
  };
}

function statusOf(exit: RunExit | undefined, { name, quiet }: NamedRunOptions): number {
  if (exit === undefined || (exit.exitCode ?? exit.signal) === undefined)
    throw new CommandError(`the exit of ${name} is unknown`);
  const why = whyStopped(exit);
  if (why !== undefined && !quiet) process.stderr.write(`wins: ${name} was stopped: ${why}\n`);
  return exitStatusOf(exit, process.platform);
}

/** Commands for detached runs, which outlive this program and the daemon. */
import { WinsClientError, type ProcessExit, type WinsClient } from '@wins/wins-api';
import {
  detachedRunsDefinition,
  RunOutput,
  type DetachedReadRequest,
} from '@wins/wins-api/contract';
import { EXIT, timeOption, UsageError, type Answer } from '@wins/base';
import { CommandError } from '../command-error.js';
import { withDaemonOfRun, type DaemonOptions } from '../daemon/connect-daemon.js';
import { exitStatusOf, whyStopped } from '../exit-status-of.js';
import type { StandardOutput } from '../standard-output.js';
import { forEachName } from './for-each-name.js';
import { OutputPrinter, type TakePart } from './print-output.js';
import {
  readThroughDaemons,
  WHOLE_OUTPUT,
  type Daemons,
  type ReadingEnd,
} from './read-through-daemons.js';

/** Time to wait for the next daemon; an upgrade takes less. */
const RECONNECT_MS = 60_000;
/** Offset beyond any output, for callers that only wait for the exit. */
const END_OF_OUTPUT = Number.MAX_SAFE_INTEGER;

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
  const since = timeOption('since', options.since);
  const until = timeOption('until', options.until);
  const wanted = {
    offset: Number(offset ?? 0),
    sinceMs: Math.max(0, since?.getTime() ?? 0),
    tailLines: tail === 'all' ? undefined : tail,
    follow,
    only: stdout === stderr ? RunOutput.BOTH : stdout ? RunOutput.STDOUT : RunOutput.STDERR,
  };
  using printer = new OutputPrinter({ quiet: options.quiet, timestamps });
  await readRun(options, wanted, untilTime(until, printer.print), printer.out);
  return printer.out.gone.aborted ? EXIT.client.readerGone : EXIT.client.ok;
}

/** Ends the output before the first part of this time or later. The parts after it do not count, because clocks jump. */
function untilTime(until: Date | undefined, take: TakePart): TakePart {
  if (until === undefined) return take;
  return async (part) => {
    const isLate = part.stream !== 'skipped' && part.timeMs >= until.getTime();
    return !isLate && (await take(part));
  };
}

export async function attachRun(options: NamedRunOptions): Promise<number> {
  using printer = new OutputPrinter(options);
  const { print, out } = printer;
  const end = await readRun(options, { ...WHOLE_OUTPUT, tailLines: 0 }, print, out);
  return out.gone.aborted ? EXIT.client.readerGone : statusOf(end, options);
}

export async function waitForRun(options: NamedRunOptions): Promise<number> {
  const wanted = { ...WHOLE_OUTPUT, offset: END_OF_OUTPUT };
  return statusOf(await readRun(options, wanted, () => Promise.resolve(true)), options);
}

export async function removeRuns(options: NamedRunsOptions): Promise<number> {
  await forEachName(options.names, (name) =>
    withDaemonOfRun(options, (client) => client.call(detachedRunsDefinition.remove, { name })),
  );
  return EXIT.client.ok;
}

/** Starts runs that were stopped, ended or given up; a run that waits for its restart starts at once. */
export function startAgain(options: NamedRunsOptions): Promise<number> {
  return begin(options, detachedRunsDefinition.startAgain);
}

/** Ends living runs, and starts them again. */
export function restartRuns(options: NamedRunsOptions): Promise<number> {
  return begin(options, detachedRunsDefinition.restart);
}

async function begin(
  options: NamedRunsOptions,
  call: typeof detachedRunsDefinition.restart | typeof detachedRunsDefinition.startAgain,
): Promise<number> {
  await forEachName(options.names, (name) =>
    withDaemonOfRun(options, (client) => client.call(call, { name })),
  );
  return EXIT.client.ok;
}

export async function listDetached(client: WinsClient, signal?: AbortSignal): Promise<Answer> {
  const answer = await client.call(detachedRunsDefinition.list, {}, signal && { signal });
  const runs = answer.runs.map(({ name, process, path, pid, startedAtMs, end, ...more }) => ({
    name,
    process,
    path,
    pid,
    state: more.state,
    startedAt: new Date(startedAtMs).toISOString(),
    endedAt: end === undefined ? null : new Date(end.endedAtMs).toISOString(),
    exit: end?.exit === undefined ? null : shownExit(end.exit),
    outputBytes: end === undefined ? null : end.outputBytes,
    restarts: more.restarts,
    restartAt: more.restartAtMs === 0 ? null : new Date(more.restartAtMs).toISOString(),
    gaveUp: more.gaveUp || null,
    refused: more.refused || null,
  }));
  const rows = runs.map((run) => [
    run.name,
    String(run.pid),
    run.state,
    run.startedAt,
    exitText(run.exit),
    String(run.restarts),
    run.path,
    run.gaveUp ?? run.refused ?? '',
  ]);
  return {
    value: runs,
    table: {
      headings: ['NAME', 'PID', 'STATE', 'STARTED', 'EXIT', 'RESTARTS', 'PATH', 'WHY'],
      rows,
    },
    names: runs.map(({ name }) => name),
  };
}

interface ShownExit {
  readonly exitCode?: number;
  readonly signal?: string;
  readonly reason: string;
}

/** Names an exit as `prc stop` does. */
function shownExit({ code, signal, reason }: ProcessExit): ShownExit {
  return { ...(signal === '' ? { exitCode: code } : { signal }), reason };
}

function exitText(exit: ShownExit | null): string {
  if (exit === null) return '';
  if (exit.reason === 'outOfMemory') return exit.reason;
  return exit.signal ?? String(exit.exitCode);
}

/** Reads output; when following, returns how the run ended. Watches the reader of `out`. */
async function readRun(
  options: NamedRunOptions,
  wanted: Omit<DetachedReadRequest, 'name'>,
  take: TakePart,
  out?: StandardOutput,
): Promise<ReadingEnd | undefined> {
  // The next daemon is awaited on the pipe on which one has answered.
  let next: Partial<DaemonOptions> = {};
  const daemons: Daemons = {
    connect: (read) =>
      withDaemonOfRun({ ...options, ...next }, async (client, answered, server) => {
        const isServing = (): void => void (next = { server, 'wait-timeout': RECONNECT_MS });
        await read(client, () => {
          answered();
          isServing();
        });
        // Also after a failure of a daemon that was there.
        isServing();
      }),
    waitMs: RECONNECT_MS,
    mayComeBack: isDaemonGone,
  };
  if (wanted.follow) out?.watch();
  return readThroughDaemons(daemons, { ...wanted, name: options.name }, take, out?.gone);
}

function isDaemonGone(error: unknown): boolean {
  if (!(error instanceof CommandError)) return false;
  const { cause } = error;
  return cause instanceof WinsClientError && cause.code === 'unavailable';
}

function statusOf(end: ReadingEnd | undefined, { name, quiet }: NamedRunOptions): number {
  if (end?.exit === undefined) throw new CommandError(`the exit of ${name} is unknown`);
  const { exit } = end;
  const why = whyStopped(exit);
  if (why !== undefined && !quiet) process.stderr.write(`wins: ${name} was stopped: ${why}\n`);
  return exitStatusOf(exit, process.platform);
}

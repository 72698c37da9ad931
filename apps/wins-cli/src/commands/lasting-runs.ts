/** Commands for detached runs, which outlive this program and the daemon. */
import { WinsClientError, type WinsClient } from '@wins/wins-api';
import {
  camelCaseKeys,
  lastingRunsDefinition,
  type LastingEnd,
  type LastingReadRequest,
  type LastingSummary,
} from '@wins/wins-api/contract';
import { EXIT, UsageError, type Answer } from '@wins/base';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../command-error.js';
import { withDaemonOfRun, type DaemonOptions } from '../daemon/connect-daemon.js';
import { exitStatusOf, whyStopped } from '../exit-status-of.js';
import { writeAll } from '../output-error.js';
import { wasThere } from './held-run.js';

/** Time to wait for the next daemon; an upgrade takes less. */
const RECONNECT_MS = 60_000;
const BETWEEN_MS = 200;
/** Offset beyond any output, for callers that only wait for the exit. */
const END_OF_OUTPUT = BigInt(Number.MAX_SAFE_INTEGER);

export interface NamedRunOptions extends DaemonOptions {
  readonly name: string;
}

export interface LogsOptions extends NamedRunOptions {
  readonly follow: boolean;
  /** Maximum age in milliseconds. */
  readonly since?: number | undefined;
  readonly offset?: string | undefined;
  readonly tail?: number | undefined;
}

export async function showRunLogs(options: LogsOptions): Promise<number> {
  const { follow, since, offset, tail } = options;
  if (offset !== undefined && !/^\d{1,15}$/.test(offset))
    throw new UsageError(`--offset: found "${offset}"; wanted a number of bytes`);
  await readRun(options, {
    Offset: BigInt(offset ?? 0),
    SinceMs: since === undefined ? 0n : BigInt(Date.now() - since),
    TailLines: tail,
    Follow: follow,
  });
  return EXIT.client.ok;
}

export async function attachRun(options: NamedRunOptions): Promise<number> {
  return statusOf(
    await readRun(options, { Offset: 0n, SinceMs: 0n, TailLines: 0, Follow: true }),
    options,
  );
}

export async function waitForRun(options: NamedRunOptions): Promise<number> {
  return statusOf(
    await readRun(options, {
      ...{ Offset: END_OF_OUTPUT, SinceMs: 0n, TailLines: undefined, Follow: true },
    }),
    options,
  );
}

export async function removeRun(options: NamedRunOptions): Promise<number> {
  await withDaemonOfRun(options, (client) =>
    client.call(lastingRunsDefinition.remove, { Name: options.name }),
  );
  return EXIT.client.ok;
}

export async function listDetached(client: WinsClient, signal?: AbortSignal): Promise<Answer> {
  const { Runs } = await client.call(lastingRunsDefinition.list, {}, signal && { signal });
  const runs = Runs.map(({ Name, Process, Path, PID, StartedAtMs, End, ...more }) => ({
    ...{ name: Name, process: Process, path: Path, pid: PID },
    state: stateOf(End, more),
    startedAt: new Date(Number(StartedAtMs)).toISOString(),
    endedAt: End === undefined ? null : new Date(Number(End.EndedAtMs)).toISOString(),
    exit: End?.Exit === undefined ? null : camelCaseKeys(End.Exit),
    outputBytes: End === undefined ? null : Number(End.OutputBytes),
    restarts: more.Restarts,
    restartAt: more.RestartAtMs === 0n ? null : new Date(Number(more.RestartAtMs)).toISOString(),
    gaveUp: more.GaveUp || null,
  }));
  const rows = runs.map(({ name, pid, state, startedAt, exit, restarts, gaveUp, path }) => [
    ...[name, String(pid), state, startedAt],
    ...[exitText(exit), String(restarts), path],
    gaveUp ?? '',
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

function exitText(exit: { code: number; signal: string; reason: string } | null): string {
  if (exit === null) return '';
  if (exit.reason === 'outOfMemory') return exit.reason;
  return exit.signal || String(exit.code);
}

function stateOf(
  end: LastingEnd | undefined,
  { RestartAtMs, GaveUp }: Pick<LastingSummary, 'RestartAtMs' | 'GaveUp'>,
): 'running' | 'waiting' | 'gaveUp' | 'ended' {
  if (end === undefined) return 'running';
  if (GaveUp !== '') return 'gaveUp';
  return RestartAtMs > 0n ? 'waiting' : 'ended';
}

interface ReadState {
  /** Offset of the first byte that has not been printed; undefined before the first answer. */
  next?: bigint;
  end?: LastingEnd;
  deadline: number;
  /** Pipe on which a daemon has answered; the next daemon is awaited on the same pipe. */
  server?: string;
  isReaderGone: boolean;
}

/** Prints output; when following, returns how the run ended. Following continues after a restart of the daemon, without gaps or duplicates. */
async function readRun(options: NamedRunOptions, wanted: Omit<LastingReadRequest, 'Name'>) {
  const state: ReadState = { deadline: Infinity, isReaderGone: false };
  const read = async (client: WinsClient, answered: () => void, server: string): Promise<void> => {
    const rest =
      state.next === undefined ? wanted : { ...wanted, Offset: state.next, TailLines: undefined };
    const request = { ...rest, Name: options.name };
    try {
      for await (const { Offset, Options: part } of client.stream(
        lastingRunsDefinition.read,
        request,
      )) {
        answered();
        state.server = server;
        state.deadline = Infinity;
        switch (part?.$case) {
          case 'StdOut':
          case 'StdErr': {
            state.next = Offset + BigInt(part.value.length);
            const output = part.$case === 'StdOut' ? process.stdout : process.stderr;
            if (await writeAll(output, part.value)) break;
            state.isReaderGone = part.$case === 'StdOut';
            if (state.isReaderGone) return;
            break;
          }
          case 'Skipped':
            state.next = Offset + part.value;
            if (!options.quiet)
              process.stderr.write(`wins: ${part.value} bytes of output were dropped\n`);
            break;
          case 'End':
            state.end = part.value;
            break;
          case undefined: // no output, only the offset at which the lines of `--tail` begin
            state.next = Offset;
            break;
        }
      }
    } catch (error) {
      const nowMs = performance.now();
      if (!wanted.Follow || !wasThere(error) || nowMs > state.deadline) throw error;
      // The first failure sets the deadline for the next daemon.
      state.server = server;
      state.deadline = Math.min(state.deadline, nowMs + RECONNECT_MS);
    }
  };
  for (;;) {
    try {
      const { server } = state;
      const next = server === undefined ? {} : { server, 'wait-timeout': RECONNECT_MS };
      await withDaemonOfRun({ ...options, ...next }, read);
      if (state.isReaderGone || !wanted.Follow || state.end !== undefined) return state.end;
    } catch (error) {
      if (!wanted.Follow || !isDaemonGone(error)) throw error;
      if (performance.now() > state.deadline) throw error;
      state.deadline = Math.min(state.deadline, performance.now() + RECONNECT_MS);
    }
    await delay(BETWEEN_MS);
  }
}

function isDaemonGone(error: unknown): boolean {
  if (!(error instanceof CommandError)) return false;
  const { cause } = error;
  return cause instanceof WinsClientError && cause.code === 'unavailable';
}

function statusOf(end: LastingEnd | undefined, { name, quiet }: NamedRunOptions): number {
  if (end?.Exit === undefined) return EXIT.client.readerGone;
  const { Exit } = end;
  const why = whyStopped(Exit);
  if (why !== undefined && !quiet) process.stderr.write(`wins: ${name} was stopped: ${why}\n`);
  return exitStatusOf(Exit, process.platform);
}

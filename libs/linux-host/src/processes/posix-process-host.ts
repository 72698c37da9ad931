import { formatRunMarker, parseDaemon } from './linux-process-entry.js';
import {
  hostPaths,
  posixFileTrust,
  type HostFailureCode,
  type ProcessHostOptions,
} from '@wins/trusted-files';
import {
  errnoOf,
  quoteText,
  reasonOf,
  RUN_MARKER_VARIABLE,
  STOP_SIGNALS,
  type HostCommand,
  type HostProcess,
  type ProcessHost,
  type StartOptions,
} from '@wins/base';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { LinuxError } from '../linux-error.js';
import { findLeftovers } from './find-leftovers.js';
import { LinuxLimits, type LimitedCommand } from './limited-command.js';
import { LinuxProcessTable } from './linux-process-table.js';
import { openOutputPipe } from './output-pipe.js';
import { PosixSession } from './posix-process.js';
import { faultOfProgram } from './program-file.js';
import { RunCgroups } from './run-cgroups.js';

// ETXTBSY is brief: a child that was forked during the write keeps the program's file open only until its own `execve`.
const BUSY_RETRY_DELAYS_MS = [5, 10, 20, 40, 80, 160];

/** Without `/proc`, `isDaemonAlive` always returns true. */
export interface PosixProcessHost extends ProcessHost {
  readonly dialect: 'posix';
}

/** Options of {@link posixProcessHost}. */
export interface PosixProcessHostOptions extends ProcessHostOptions {
  /** Folder of a cgroup v2 that belongs to this daemon, for runs with limits. Default: the cgroup in which the daemon was started. */
  readonly cgroup?: string | undefined;
}

/**
 * Uses sessions, process groups and, on Linux, `/proc`. On other systems (macOS) it finds no leftovers and ends only
 * process groups, so a program that creates its own session outlives its run.
 *
 * @throws LinuxError `unavailable` on Windows.
 */
export function posixProcessHost(options: PosixProcessHostOptions = {}): PosixProcessHost {
  const { failure = linuxFailure } = options;
  const ownUid = process.geteuid?.();
  if (ownUid === undefined) {
    const message = `cannot run processes in process groups: ${process.platform} is not a POSIX system`;
    throw new LinuxError('unavailable', message);
  }
  const table = existsSync('/proc/self/environ') ? new LinuxProcessTable() : undefined;
  const limits = new LinuxLimits(new RunCgroups(options.cgroup), failure);
  const tokenOf = (startTicks: number): string => `${startTicks}.${table?.realm ?? 'unknown'}`;
  const daemon = `${process.pid}:${tokenOf(table?.startTicks(process.pid) ?? 0)}`;

  const isDaemonAlive = (identity: string): boolean => {
    const { pid, startToken } = parseDaemon(identity);
    if (table === undefined) return true;
    const realm = startToken.slice(startToken.indexOf('.') + 1);
    if (realm !== table.realm) {
      // A daemon in another PID namespace is invisible, so it counts as alive, unless it started before the last boot.
      return realm.split('.')[1] === table.realm.split('.')[1];
    }
    const entry = table.entry(pid);
    return entry !== undefined && tokenOf(entry.startTicks) === startToken;
  };

  return {
    dialect: 'posix',
    daemon,
    isDaemonAlive,
    ...hostPaths(posixFileTrust(ownUid), failure, {
      file: "a regular file that only root or the daemon's user can replace",
      directory: "a directory that only root or the daemon's user can write to",
    }),
    ...(process.platform === 'linux' && {
      assertProgram: async (path: string) => {
        const tried = `cannot run ${quoteText(path)}`;
        const fault = await faultOfProgram(path).catch((cause: unknown) => {
          const code = errnoOf(cause) === 'ENOENT' ? 'notFound' : 'unknown';
          throw failure(code, `${tried}: ${reasonOf(cause)}`, { cause, path });
        });
        if (fault !== undefined) throw failure('notExecutable', `${tried}: ${fault}`, { path });
      },
    }),
    limitMeans: (wanted) => limits.means(wanted),
    start: async (command, options = {}) => {
      const limited = limits.limit(command);
      try {
        return await whenFree(() =>
          startOnce(command, options, { daemon, table, tokenOf, limited }),
        );
      } catch (cause) {
        limited?.cgroup?.remove();
        const message = `cannot start ${quoteText(command.file)}: ${reasonOf(cause)}`;
        throw failure(startCode(cause), message, { cause, path: command.file });
      }
    },
    findLeftovers: async (search) => {
      if (table === undefined) return [];
      const startTokenOf = ({ startTicks }: { startTicks: number }) => tokenOf(startTicks);
      try {
        return await findLeftovers({ table, isDaemonAlive, startTokenOf }, search);
      } catch (cause) {
        const message = `cannot look for processes of an earlier daemon in /proc: ${String(cause)}`;
        throw failure('unknown', message, { cause });
      }
    },
  };
}

/** Only overlong arguments are the fault of the request. */
function startCode(error: unknown): HostFailureCode {
  return errnoOf(error) === 'E2BIG' ? 'invalidArgument' : 'spawnFailed';
}

function linuxFailure(code: HostFailureCode, message: string, { cause }: ErrorOptions): LinuxError {
  const known = code === 'invalidArgument' || code === 'notFound' ? code : 'unknown';
  return new LinuxError(code === 'pathNotTrusted' ? 'accessDenied' : known, message, { cause });
}

async function whenFree<T>(action: () => Promise<T>): Promise<T> {
  for (const delayMs of BUSY_RETRY_DELAYS_MS) {
    try {
      return await action();
    } catch (error) {
      if (errnoOf(error) !== 'ETXTBSY') throw error;
    }
    await delay(delayMs);
  }
  return action();
}

function posixSignal({ stop }: HostCommand): NodeJS.Signals | undefined {
  return STOP_SIGNALS.posix.find((signal) => signal === stop?.signal);
}

interface Starter {
  readonly daemon: string;
  readonly table: LinuxProcessTable | undefined;
  readonly tokenOf: (startTicks: number) => string;
  readonly limited: LimitedCommand | undefined;
}

async function startOnce(
  command: HostCommand,
  { reusesBuffer = false }: StartOptions,
  { daemon, table, tokenOf, limited }: Starter,
): Promise<HostProcess> {
  const { mark, lineage } = command;
  const { file, argv0, args } = limited?.command ?? command;
  const outputs = [openOutputPipe(reusesBuffer), openOutputPipe(reusesBuffer)] as const;
  try {
    const [ofStdout, ofStderr] = outputs;
    const child = spawn(file, [...args], {
      argv0,
      cwd: command.directory,
      // The mark comes first, so that searches find it quickly. It may come later in children of a shell, which may reorder variables.
      env: { [RUN_MARKER_VARIABLE]: formatRunMarker({ mark, lineage, daemon }), ...command.env },
      detached: true,
      shell: false,
      stdio: ['ignore', ofStdout?.childEnd ?? 'pipe', ofStderr?.childEnd ?? 'pipe'],
    });
    const { pid } = child;
    if (pid === undefined) {
      const [error] = (await once(child, 'error')) as [unknown];
      throw error;
    }
    // Works even if the child has ended: Node reaps it only in a later turn of the event loop, so it is still in `/proc`.
    const startTicks = table?.startTicks(pid) ?? 0;
    const [stdout, stderr] = [ofStdout?.stream ?? child.stdout, ofStderr?.stream ?? child.stderr];
    if (stdout === null || stderr === null) throw new Error('it has no output');
    return new PosixSession({
      child,
      stdout,
      stderr,
      table,
      cgroup: limited?.cgroup,
      leader: { mark, pid, startTicks },
      startToken: tokenOf(startTicks),
      stopSignal: posixSignal(command),
    });
  } catch (error) {
    for (const output of outputs) output?.stream.destroy();
    throw error;
  } finally {
    for (const output of outputs) if (output !== undefined) closeSync(output.childEnd);
  }
}

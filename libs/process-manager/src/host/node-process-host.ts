import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { RUN_MARKER_VARIABLE } from '../policy/guarded-variables.js';
import { ensurePrivatePosixDirectory } from './ensure-private-directory.js';
import { findLeftovers } from './find-leftovers.js';
import { LinuxProcessTable } from './linux-process-table.js';
import { errnoOf, spawnError } from '../node-errors.js';
import {
  assertTrustedPosixDirectory,
  assertTrustedPosixFile,
} from '../staging/posix-file-trust.js';
import { PosixProcess } from './posix-process.js';
import { ProcessError } from '../process-error.js';
import type { HostCommand, HostProcess, ProcessHost } from './process-host.js';
import { formatRunMarker, parseDaemon } from './run-marker.js';

// Another child that was being forked while the copy was open for writing holds it until it has
// become its own program, which takes microseconds.
const BUSY_RETRY_DELAYS_MS = [5, 10, 20, 40, 80, 160];

/**
 * The host of POSIX systems: sessions, process groups and, on Linux, `/proc`. Elsewhere it ends
 * process groups only, and finds no leftovers of an earlier daemon.
 *
 * @throws ProcessError `hostUnsupported` on Windows, where children need job objects.
 */
export function createNodeProcessHost(): ProcessHost {
  const ownUid = process.geteuid?.();
  if (process.platform === 'win32' || ownUid === undefined) {
    throw new ProcessError(
      'hostUnsupported',
      'cannot run processes: Windows was found, and this host needs process groups; pass a host of job objects',
    );
  }
  const table = existsSync('/proc/self/environ') ? new LinuxProcessTable() : undefined;
  const tokenOf = (startTicks: number): string => `${startTicks}.${table?.realm ?? 'unknown'}`;
  const daemon = `${process.pid}:${tokenOf(table?.startTicks(process.pid) ?? 0)}`;

  const isDaemonAlive = (identity: string): boolean => {
    const { pid, startToken } = parseDaemon(identity);
    if (table === undefined) return true;
    const realm = startToken.slice(startToken.indexOf('.') + 1);
    if (realm !== table.realm) {
      // Of an earlier boot nothing is left; of another PID namespace we cannot see anything.
      return realm.split('.')[1] === table.realm.split('.')[1];
    }
    const entry = table.entry(pid);
    return entry !== undefined && tokenOf(entry.startTicks) === startToken;
  };

  return {
    dialect: 'posix',
    daemon,
    isDaemonAlive,
    assertTrustedFile: (path) => assertTrustedPosixFile(path, ownUid),
    assertTrustedDirectory: (path) => assertTrustedPosixDirectory(path, ownUid),
    ensurePrivateDirectory: (path) => ensurePrivatePosixDirectory(path, ownUid),
    start: (command) => start(command, daemon, table, tokenOf),
    findLeftovers: async (search) => {
      if (table === undefined) return [];
      const startTokenOf = ({ startTicks }: { startTicks: number }) => tokenOf(startTicks);
      try {
        return await findLeftovers({ table, isDaemonAlive, startTokenOf }, search);
      } catch (error) {
        const message = `cannot look for processes of an earlier daemon in /proc: ${String(error)}`;
        throw new ProcessError('unknown', message, { cause: error });
      }
    },
  };
}

async function start(
  command: HostCommand,
  daemon: string,
  table: LinuxProcessTable | undefined,
  tokenOf: (startTicks: number) => string,
): Promise<HostProcess> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await startOnce(command, daemon, table, tokenOf);
    } catch (error) {
      const delayMs = BUSY_RETRY_DELAYS_MS[attempt];
      if (errnoOf(error) !== 'ETXTBSY' || delayMs === undefined)
        throw spawnError(error, command.file);
      await delay(delayMs);
    }
  }
}

async function startOnce(
  command: HostCommand,
  daemon: string,
  table: LinuxProcessTable | undefined,
  tokenOf: (startTicks: number) => string,
): Promise<HostProcess> {
  const { mark, lineage } = command;
  const child = spawn(command.file, [...command.args], {
    argv0: command.argv0,
    cwd: command.directory,
    // First, so that it is found at once; a shell may reorder it for its own children.
    env: { [RUN_MARKER_VARIABLE]: formatRunMarker({ mark, lineage, daemon }), ...command.env },
    detached: true,
    shell: false,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) {
    const [error] = (await once(child, 'error')) as [unknown];
    throw error;
  }
  // Until it is collected, which needs another turn of the event loop, the child has an entry.
  const startTicks = table?.startTicks(pid) ?? 0;
  const leader = { mark, pid, startTicks };
  const { stdout, stderr } = child;
  return new PosixProcess({
    ...{ child, stdout, stderr, leader, table },
    startToken: tokenOf(startTicks),
  });
}

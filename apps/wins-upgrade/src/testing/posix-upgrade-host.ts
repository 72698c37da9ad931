import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import path from 'node:path';
import { posixProcessHost } from '@wins/linux-host';
import { UpgradeError, type UpgradeHost } from '@wins/service-upgrade';
import { posixFileTrust } from '@wins/trusted-files';
import { messageOf, RUN_MARKER_VARIABLE } from '@wins/base';

/** USER_HZ, the unit of times in `/proc`, is 100 on each architecture that Node supports. */
const TICK_MS = 10;

/**
 * Supports systems with POSIX sessions. A process has left a run when it has its own session, no mark of the run in its environment, and no parent
 * in the run. `startOutsideRun` provides the session and removes the mark. The process that calls `startOutsideRun` must exit at once, because it is the
 * parent of the new process.
 */
export function createPosixUpgradeHost(): UpgradeHost {
  return {
    platform: process.platform,
    arch: process.arch,
    trust: posixFileTrust(),
    startOutsideRun,
    self: posixProcessHost().daemon,
    isAlive: (identity) => posixProcessHost().isDaemonAlive(identity),
    isBelow: (pid) => {
      let above = process.ppid;
      while (above > 0 && above !== pid) above = Number(statOf(above)[1] ?? 0);
      return above === pid;
    },
    startedAtMs: (pid) => {
      const [ticks] = statOf(pid).slice(19);
      return (ticks && Date.now() - uptime() * 1000 + Number(ticks) * TICK_MS) || undefined;
    },
  };
}

/** Names the processes that run `file` as a program or as a script, or pose as it for a spec (`UPGRADE_PROGRAM`). */
export function programsOf(file: string): Promise<readonly string[]> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const named = pids.filter(
    (pid) =>
      wordsIn(`/proc/${pid}/cmdline`).slice(0, 2).includes(file) ||
      wordsIn(`/proc/${pid}/environ`).includes(`UPGRADE_PROGRAM=${file}`),
  );
  return Promise.resolve(named.map((pid) => `${path.basename(file)} (process ${pid})`));
}

function wordsIn(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Returns the fields of `/proc/PID/stat` after the program's name; none for an ended process. */
function statOf(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

async function startOutsideRun(file: string, args: readonly string[]): Promise<void> {
  const { [RUN_MARKER_VARIABLE]: _mark, ...env } = process.env;
  const child = spawn(file, [...args], { cwd: '/', env, detached: true, stdio: 'ignore' });
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw new UpgradeError('programFailed', `cannot start ${file}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  child.unref();
}

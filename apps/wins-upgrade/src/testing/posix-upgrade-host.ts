import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { posixProcessHost } from '@wins/linux-host';
import { UpgradeError, type UpgradeHost } from '@wins/service-upgrade';
import { posixFileTrust } from '@wins/trusted-files';
import { messageOf, RUN_MARKER_VARIABLE } from '@wins/wins-program';

/**
 * Systems with POSIX sessions. A process that lives in a session of its own, without the mark, and has no parent in the run, belongs to
 * no run: hence the starter must end at once.
 */
export function createPosixUpgradeHost(): UpgradeHost {
  const processes = posixProcessHost();
  return {
    ...{ platform: process.platform, arch: process.arch },
    ...{ trust: posixFileTrust(), startApart },
    self: processes.daemon,
    isBelow: (pid) => processes.isBelow(pid),
    startedAt: (pid) => processes.startedAt(pid),
  };
}

async function startApart(file: string, args: readonly string[]): Promise<void> {
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

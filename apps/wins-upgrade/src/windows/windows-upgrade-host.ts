import {
  isBelow,
  isRunning,
  ownIdentity,
  processOfText,
  processStartedAtMs,
  startOutsideJob,
  windowsFileTrust,
  WindowsError,
} from '@wins/windows-host';
import path from 'node:path';
import { UpgradeError, type UpgradeHost } from '@wins/service-upgrade';
import { RUN_MARKER_VARIABLE, messageOf } from '@wins/base';

const HELD_BY_DAEMON =
  'cannot leave the run: the daemon does not let this program start one that outlives it. Set mayBreakAway: true in the whitelist entry of the helper';
const HELD =
  'cannot start a helper that outlives this process: the job of this process forbids it; wanted a job with JOB_OBJECT_LIMIT_BREAKAWAY_OK, or none';

/**
 * `startOutsideRun` starts the program outside the job of this process, because that job may belong to a run. When a run ends, every process in its job
 * ends too.
 */
export function createWindowsUpgradeHost(): UpgradeHost {
  const { pid, created } = ownIdentity();
  return {
    self: `${pid}:${created}`,
    isBelow,
    startedAtMs: processStartedAtMs,
    isAlive: (identity) => {
      const upgrader = processOfText(identity);
      return upgrader !== undefined && isRunning(upgrader);
    },
    platform: process.platform,
    arch: process.arch,
    trust: windowsFileTrust(),
    startOutsideRun,
  };
}

async function startOutsideRun(file: string, args: readonly string[]): Promise<void> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env))
    if (value !== undefined && name !== RUN_MARKER_VARIABLE) env[name] = value;
  const directory = path.win32.dirname(file);
  try {
    await Promise.resolve({ file, argv0: file, args, env, directory }).then(startOutsideJob);
  } catch (error) {
    if (!(error instanceof WindowsError)) throw error;
    if (error.code === 'accessDenied')
      throw new UpgradeError(
        'refused',
        process.env[RUN_MARKER_VARIABLE] === undefined ? HELD : HELD_BY_DAEMON,
        { cause: error },
      );
    throw new UpgradeError('programFailed', `cannot start ${file}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

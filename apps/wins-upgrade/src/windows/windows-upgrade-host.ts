import { ensurePrivateFolder, startDetachedProcess, WindowsError } from '@wins/windows-host';
import path from 'node:path';
import { UpgradeError, type UpgradeHost } from '@wins/service-upgrade';
import { RUN_MARKER_VARIABLE, messageOf } from '@wins/wins-program';

const HELD_BY_DAEMON =
  'cannot leave the run: the daemon does not let this program start one that outlives it; wanted mayBreakAway: true in the entry of the whitelist for the helper';
const HELD =
  'cannot start a helper that outlives this process: the job that it is in lets nothing leave; wanted a job with JOB_OBJECT_LIMIT_BREAKAWAY_OK, or none';

/** Windows, where a run is a job, and who breaks away from the job belongs to no run. */
export function createWindowsUpgradeHost(): UpgradeHost {
  return {
    platform: process.platform,
    arch: process.arch,
    ensurePrivateFolder: requirePrivateFolder,
    requireTrustedFolder: (folder) => judgeFolder('replace a program in', folder),
    startApart,
  };
}

/** As {@link UpgradeHost.ensurePrivateFolder}. */
export function requirePrivateFolder(folder: string): Promise<void> {
  return judgeFolder('keep the state of an upgrade in', folder);
}

// One that is there is looked at and left as it is; one that is not is made private.
async function judgeFolder(tried: string, folder: string): Promise<void> {
  try {
    await Promise.resolve(folder).then(ensurePrivateFolder);
  } catch (error) {
    if (!(error instanceof WindowsError)) throw error;
    // What is judged and found open to others has failed in no call: a disk that cannot be written is denied by the system.
    const isJudged = error.code === 'access-denied' && error.functionName === undefined;
    const code = isJudged ? 'refused' : 'fileFailed';
    throw new UpgradeError(code, `cannot ${tried} ${folder}: ${error.message}`, { cause: error });
  }
}

async function startApart(file: string, args: readonly string[]): Promise<void> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && name !== RUN_MARKER_VARIABLE) env[name] = value;
  }
  const directory = path.win32.dirname(file);
  try {
    await Promise.resolve({ file, argv0: file, args, env, directory }).then(startDetachedProcess);
  } catch (error) {
    if (!(error instanceof WindowsError)) throw error;
    if (error.code === 'access-denied') {
      throw new UpgradeError(
        'refused',
        process.env[RUN_MARKER_VARIABLE] === undefined ? HELD : HELD_BY_DAEMON,
        {
          cause: error,
        },
      );
    }
    throw new UpgradeError('programFailed', `cannot start ${file}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

import { removeLeftovers } from '@wins/trusted-files';
import { errnoOf } from '@wins/wins-program';
import path from 'node:path';

/** The temporary name of a copy on its way to `target`, by which its writer can be recognised. */
export function stagingTemporaryPath(target: string, pid: number, random: string): string {
  return path.join(path.dirname(target), `.${path.basename(target)}.${pid}-${random}.tmp`);
}

/**
 * Removes the temporary files that a crash left on the way to `target`: regular files of exactly
 * our pattern whose writer no longer runs. Failures are ignored, because the copy that follows
 * meets and reports the same cause.
 */
export async function removeStagingLeftovers(target: string): Promise<void> {
  const suffix = /^([1-9][0-9]{0,9})-[0-9a-f]{16}\.tmp$/;
  await removeLeftovers(
    target,
    suffix,
    ([, writer], { mtimeMs }) => !isWriting(Number(writer), mtimeMs),
  );
}

function isWriting(pid: number, writtenAtMs: number): boolean {
  if (pid === process.pid) {
    // In a container every daemon may have the same PID: what is older than we are is not ours.
    return writtenAtMs >= Date.now() - process.uptime() * 1000;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}

import type { InstallPaths } from '@wins/installation';
import { ensurePrivateFolder, type UpgradeContext } from '@wins/service-upgrade';
import { errnoOf } from '@wins/base';
import { isHeld } from '@wins/trusted-files';
import { lockFile, WindowsError } from '@wins/windows-host';
import { rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';

/**
 * Locks a file in a private folder of its own, which exists only while the lock is held. The file is not beside the program, because the
 * program's folders would then be created before the installation, and everyone would have access to them. Returns undefined while another process
 * has the lock.
 * @throws UpgradeError `refused` when others can use the folder.
 */
export async function lockNode(
  { stateFolder }: Pick<InstallPaths, 'stateFolder'>,
  context: Pick<UpgradeContext, 'effects' | 'host'>,
): Promise<AsyncDisposable | undefined> {
  const folder = `${stateFolder}-lock`;
  const file = path.win32.join(folder, 'lock');
  await ensurePrivateFolder(context, folder);
  const held = takeFile(file);
  return (
    held && {
      [Symbol.asyncDispose]: async () => {
        held.close();
        // If another process has taken the lock meanwhile, that process removes the file.
        await unlessTaken(() => unlink(file));
        await unlessTaken(() => rmdir(folder));
      },
    }
  );
}

/** A missing folder counts as locked, because the previous holder may have just removed it. */
function takeFile(file: string): ReturnType<typeof lockFile> {
  try {
    return lockFile(file);
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'notFound') return undefined;
    throw error;
  }
}

async function unlessTaken(remove: () => Promise<void>): Promise<void> {
  try {
    await remove();
  } catch (error) {
    if (!isHeld(error) && !['ENOENT', 'ENOTEMPTY'].includes(errnoOf(error) ?? '')) throw error;
  }
}

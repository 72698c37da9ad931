import type { InstallPlaces } from '@wins/installation';
import { ensurePrivateFolder, type UpgradeContext, type UpgradeLock } from '@wins/service-upgrade';
import { errnoOf } from '@wins/base';
import { isHeld } from '@wins/trusted-files';
import { lockFile, WindowsError } from '@wins/windows-host';
import { rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';

/**
 * Takes a file in a private folder of its own, which is there as long as it is taken. It lies where folders are that the system made:
 * beside a program that is not installed yet it would make those above, for everyone.
 *
 * @returns Undefined while another process has it.
 * @throws UpgradeError `refused` when others can use the folder.
 */
export async function lockNode(
  { stateFolder }: Pick<InstallPlaces, 'stateFolder'>,
  context: Pick<UpgradeContext, 'effects' | 'host'>,
): Promise<UpgradeLock | undefined> {
  const folder = `${stateFolder}-lock`;
  const file = path.win32.join(folder, 'lock');
  await ensurePrivateFolder(context, folder);
  const held = takeFile(file);
  return (
    held && {
      close: async () => {
        held.close();
        // A process that took it meanwhile has it open, and removes it.
        await unlessTaken(() => unlink(file));
        await unlessTaken(() => rmdir(folder));
      },
    }
  );
}

/** The folder may go with the one who had the lock before. */
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

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { manifestPath } from '../manifest/manifest-file.js';
import { act, type InstallContext } from './install-context.js';

/** Removes the folder of the installation itself, when nothing is installed any more. */
export async function removeStateFolder(context: InstallContext): Promise<void> {
  const { stateFolder } = context.places;
  if (existsSync(manifestPath(stateFolder))) return;
  await act(context, 'remove state folder', () =>
    rm(stateFolder, { recursive: true, force: true }),
  );
}

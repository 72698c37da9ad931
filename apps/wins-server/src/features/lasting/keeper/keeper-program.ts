import { isOnTrial, targetOf } from '@wins/service-upgrade';
import { hashFile, isHeld } from '@wins/trusted-files';
import { ProcessError } from '@wins/process-manager';
import { existsSync } from 'node:fs';
import { copyFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

const COPY = /^keeper-[0-9a-f]{40}\.exe$/;

/** The file of this executable: an upgrade moves one on trial to its place once it is proven. */
export function ownExecutable(file = process.execPath): string {
  return existsSync(file) || !isOnTrial(file) ? file : targetOf(file);
}

/**
 * Makes a copy of this executable for a keeper, where the system lets no one replace or remove a program that runs: upgrades go on.
 *
 * @param folder - Private.
 * @param release - SHA-1 that the copy must have.
 * @throws ProcessError `stateUnavailable`.
 */
export async function copyForKeeper(folder: string, release: string): Promise<string> {
  await removeCopies(folder);
  const copy = path.join(folder, `keeper-${release}.exe`);
  if (!existsSync(copy)) await copyFile(ownExecutable(), copy);
  const { sha1 } = await hashFile(copy, ['sha1']);
  if (sha1 === release) return copy;
  await rm(copy, { force: true });
  const found = `found another program than the running one in ${ownExecutable()}`;
  throw new ProcessError('stateUnavailable', `cannot start a keeper: ${found}`);
}

/** Removes the copies that no keeper runs. */
export async function removeCopies(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => COPY.test(each))) {
    try {
      await rm(path.join(folder, name), { force: true });
    } catch (error) {
      if (!isHeld(error)) throw error;
    }
  }
}

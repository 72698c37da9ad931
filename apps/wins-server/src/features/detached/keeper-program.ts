import { isOnTrial, targetOf } from '@wins/service-upgrade';
import { hashFile, isHeld } from '@wins/trusted-files';
import { ProcessError } from '@wins/process-manager';
import { existsSync } from 'node:fs';
import { copyFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

const COPY = /^keeper-[0-9a-f]{40}\.exe$/;

/** Returns the current path of the running executable: its final path if a successful upgrade has moved it there from its trial path. */
export function ownExecutable(file = process.execPath): string {
  return existsSync(file) || !isOnTrial(file) ? file : targetOf(file);
}

/**
 * Copies this executable, so that upgrades work on systems that forbid replacing a running program.
 *
 * @param folder - Must be private.
 * @param release - SHA-1 of the running executable. The copy must match it.
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

/** Removes copies that no keeper runs. */
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

import { posixFileTrust, type Distrust } from '@wins/trusted-files';
import { errnoOf, quoteText } from '@wins/base';
import { mkdir, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describePipeError } from './node-errors.js';
import type { PipePath } from './pipe-path.js';

/**
 * Verifies that only this user and root can create, replace or remove files in the directory of a socket. The path
 * must not contain a link, or a folder that other users can change (`distrustOfFolder` of `@wins/trusted-files`).
 *
 * @param create creates the directory, mode 0700, when it is missing; never its parents.
 * @throws PipeError `securityUnavailable` with the directory and its fault. Errors of the file system pass unchanged.
 */
export async function requirePrivateDirectory(path: PipePath, create: boolean): Promise<void> {
  const directory = dirname(path.address);
  if (create) await makeDirectory(directory);
  const distrust = posixFileTrust().distrustOfFolder(directory);
  if (distrust === undefined) return;
  const remedy = await remedyOf(distrust, directory);
  const parts = [`${quoteText(distrust.path)}: ${distrust.found}`, remedy];
  const found = parts.filter(Boolean).join('; ');
  throw describePipeError('securityUnavailable', 'listen on', path, found);
}

async function remedyOf(
  { rule, remedy }: Distrust,
  directory: string,
): Promise<string | undefined> {
  if (rule !== 'A7 symbolic link') return remedy;
  return `use ${quoteText(await realpath(directory))} instead`;
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

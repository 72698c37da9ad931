import {
  fileSystemError,
  moveFile,
  readBytes,
  replaceFile,
  TrustedFileError,
  type TrustedFileErrorCode,
} from '@wins/trusted-files';
import { errnoOf, messageOf } from '@wins/wins-program';
import { readdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { Effects } from '../run/effects.js';
import { UpgradeError } from '../upgrade-error.js';

/**
 * Replaces a file by one with this text, as one act: a reader, after a loss of power too, finds the old text or the new.
 *
 * @throws UpgradeError `fileFailed`; the old file is then untouched.
 */
export async function replaceText(effects: Effects, file: string, text: string): Promise<void> {
  try {
    await effects.run(`write ${path.basename(file)}`, () => replaceFile(file, text));
  } catch (error) {
    throw fileError('write', file, error);
  }
}

/**
 * Reads a file of ours whole. Links are refused.
 *
 * @returns Undefined when there is none; an empty text when it has more than `maxBytes`: then it is not ours.
 * @throws UpgradeError `fileFailed`.
 */
export async function readText(file: string, maxBytes: number): Promise<string | undefined> {
  try {
    return (await readBytes(file, { maxBytes })).toString('utf8');
  } catch (error) {
    const code = error instanceof TrustedFileError ? error.code : undefined;
    if (code === 'notFound') return undefined;
    if (code === 'tooLarge') return '';
    throw fileError('read', file, error);
  }
}

/** Moves a file over another as one durable act. @throws UpgradeError `fileFailed`. */
export async function moveOver(
  effects: Effects,
  what: string,
  from: string,
  to: string,
): Promise<void> {
  try {
    await effects.run(`move ${what}`, () => moveFile(from, to));
  } catch (error) {
    throw fileError(`move ${from} to`, to, error);
  }
}

/** Removes a file, if it is there. @throws UpgradeError `fileFailed`. */
export async function remove(effects: Effects, what: string, file: string): Promise<void> {
  try {
    await effects.run(`remove ${what}`, () => unlinkIfThere(file));
  } catch (error) {
    throw fileError('remove', file, error);
  }
}

/** Removes a file that is not wanted any more, if that can be done now: else the next sweep does it. */
export async function discard(effects: Effects, file: string): Promise<void> {
  await effects.once('discard', () => unlinkIfThere(file)).catch(() => undefined);
}

/** Removes from a folder of ours what is not to be kept. What is still in use stays for the next time. */
export async function sweep(
  effects: Effects,
  folder: string,
  keep: readonly string[],
): Promise<void> {
  let entries;
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw fileError('look into', folder, error);
  }
  for (const entry of entries) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory() || keep.includes(file)) continue;
    try {
      await effects.once('sweep', () => unlinkIfThere(file));
    } catch (error) {
      if (!['EBUSY', 'EPERM', 'EACCES'].includes(errnoOf(error) ?? '')) {
        throw fileError('remove', file, error);
      }
    }
  }
}

async function unlinkIfThere(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/**
 * Says which file operation failed, on what, and why.
 *
 * @param refusals - What is a refusal (`refused`) instead of a failure (`fileFailed`).
 */
export function fileError(
  tried: string,
  file: string,
  error: unknown,
  refusals: readonly TrustedFileErrorCode[] = [],
): UpgradeError {
  if (error instanceof UpgradeError) return error;
  const cause = fileSystemError(error, tried, file);
  if (!(cause instanceof TrustedFileError)) {
    return new UpgradeError('fileFailed', `cannot ${tried} ${file}: ${messageOf(error)}`, {
      cause,
    });
  }
  const above = cause.at === cause.path ? '' : `of ${cause.at}, above it, `;
  const code = refusals.includes(cause.code) ? 'refused' : 'fileFailed';
  return new UpgradeError(code, `cannot ${tried} ${file}: ${above}${cause.found}`, { cause });
}

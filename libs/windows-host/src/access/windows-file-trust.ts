import * as trustedFiles from '@wins/trusted-files';
import type { Distrust, FileTrust, TrustedFileErrorCode } from '@wins/trusted-files';
import { canonicalPath, TextError, errnoOf, type CanonicalPath } from '@wins/base';
import { WindowsError, type WindowsErrorCode, unlessFails } from '../windows-error.js';
import { mkdirSync } from 'node:fs';
import { createFolder, listFor } from './private-file.js';
import { processAccount } from './process-account.js';
import * as judgement from './trusted-file-judgement.js';

const CODES: Readonly<Partial<Record<WindowsErrorCode, TrustedFileErrorCode>>> = {
  accessDenied: 'accessDenied',
  alreadyExists: 'alreadyExists',
  notFound: 'notFound',
  busy: 'inUse',
};

/**
 * Trust by owner and access list: only SYSTEM, administrators, TrustedInstaller and the account of this process may
 * write. Refuses links, junctions and mount points. Paths must begin with a drive letter; either separator is allowed.
 */
export function windowsFileTrust(): FileTrust {
  return {
    distrustOfFile: (file) =>
      translated('inspect', file, () => distrustOfFile(canonicalPath(file, 'windows'))),
    distrustOfFolder: (folder) =>
      translated('inspect', folder, () => distrustOfFolder(canonicalPath(folder, 'windows'))),
    distrustOfPrivateFolder: (folder) =>
      translated('inspect', folder, () => walkToPrivateFolder(folder, factsIfThere)),
    ensurePrivateFolder: (folder) => {
      const distrust = translated('make the folder', folder, () => makePrivateFolder(folder));
      if (distrust !== undefined)
        throw trustedFiles.distrusted('keep private files in', folder, distrust);
    },
  };
}

function translated<T>(tried: string, location: string, action: () => T): T {
  const failure = (code: TrustedFileErrorCode, found: string, cause: Error) =>
    new trustedFiles.TrustedFileError(code, tried, location, found, { cause });
  try {
    return action();
  } catch (error) {
    if (error instanceof TextError) throw failure('unknown', error.message, error);
    if (!(error instanceof WindowsError))
      throw trustedFiles.fileSystemError(error, tried, location);
    const { functionName, errorNumber, symbol } = error;
    const found = functionName
      ? `${functionName} failed with ${symbol ?? `error ${errorNumber ?? 0}`}`
      : error.message;
    throw failure(CODES[error.code] ?? 'unknown', found, error);
  }
}

/**
 * Distrusts a file that an untrusted account could have created or can change. Only SYSTEM, administrators,
 * TrustedInstaller and this account are trusted. Distrusts any path with a link. Judges the steps from the drive down, so
 * that no untrusted account can change a judged step.
 *
 * @throws WindowsError `notFound`, and others of the system.
 */
function distrustOfFile(file: CanonicalPath): Distrust | undefined {
  return distrustOfSteps(judgement.stepsTo(file), ['folder', 'file']);
}

/** Distrusts a folder that an untrusted account could have created or can add to. */
function distrustOfFolder(folder: CanonicalPath): Distrust | undefined {
  return distrustOfSteps(judgement.stepsTo(folder), ['folder']);
}

/** `wanted` describes the last steps; earlier steps are ancestors. */
function distrustOfSteps(
  steps: readonly string[],
  wanted: readonly ('folder' | 'file')[],
): Distrust | undefined {
  const trusted = [processAccount().user];
  const ancestors = steps.length - wanted.length;
  for (const [index, step] of steps.entries()) {
    const kind = wanted[index - ancestors] ?? 'ancestor';
    const distrust = judgement.judgeStep(judgement.readFileFacts(step), kind, trusted);
    if (distrust !== undefined) return distrust;
  }
  return undefined;
}

/**
 * Creates a folder that only SYSTEM, administrators and this account can use, or checks an existing folder. Creates
 * missing parents with default rights, each inside a folder that was found safe, so that no junction can redirect it.
 */
function makePrivateFolder(absolute: string): Distrust | undefined {
  // For an administrator, the access list omits the account's SID, because a process of another administrator would distrust that SID.
  const makePrivately = (step: string): void => createFolder(step, listFor(0o700, true));
  return walkToPrivateFolder(absolute, (step, isFolder) =>
    factsOrMade(step, isFolder ? makePrivately : mkdirSync),
  );
}

function walkToPrivateFolder(
  absolute: string,
  take: (step: string, isFolder: boolean) => judgement.FileFacts | undefined,
): Distrust | undefined {
  const folder = canonicalPath(absolute, 'windows');
  const { user } = processAccount();
  for (const step of judgement.stepsTo(folder)) {
    const isFolder = step === folder;
    const facts = take(step, isFolder);
    if (facts === undefined) return undefined;
    const distrust = judgement.judgeStep(facts, isFolder ? 'folder' : 'ancestor', [user]);
    if (distrust === undefined) continue;
    const remedy = isFolder ? judgement.privateFolderMending(folder, facts.sddl, user) : '';
    return remedy === '' ? distrust : { ...distrust, remedy };
  }
  return undefined;
}

function factsIfThere(step: string): judgement.FileFacts | undefined {
  return unlessFails(() => judgement.readFileFacts(step), 'notFound');
}

function factsOrMade(step: string, make: (step: string) => void): judgement.FileFacts {
  const found = factsIfThere(step);
  if (found !== undefined) return found;
  try {
    make(step);
  } catch (error) {
    // If another process has created this folder in the meantime, the next check judges its owner.
    const isThere = error instanceof WindowsError && error.code === 'alreadyExists';
    if (!isThere && errnoOf(error) !== 'EEXIST') throw error;
  }
  return judgement.readFileFacts(step);
}

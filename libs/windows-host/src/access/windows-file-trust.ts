import * as trustedFiles from '@wins/trusted-files';
import type { Distrust, FileTrust, TrustedFileErrorCode } from '@wins/trusted-files';
import { TextError, errnoOf } from '@wins/base';
import path from 'node:path';
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
 * write. Refuses links, junctions and mount points. Paths may have either separator, and begin with a drive letter.
 */
export function windowsFileTrust(): FileTrust {
  return {
    distrustOfFile: (file) =>
      translated('inspect', file, () => distrustOfFile(path.win32.resolve(file))),
    distrustOfFolder: (folder) =>
      translated('inspect', folder, () => distrustOfFolder(path.win32.resolve(folder))),
    distrustOfPrivateFolder: (folder) =>
      translated('inspect', folder, () => walkToPrivateFolder(folder, factsIfThere)),
    ensurePrivateFolder: (folder) => {
      const distrust = translated('make the folder', folder, () => makePrivateFolder(folder));
      if (distrust !== undefined)
        throw trustedFiles.distrusted('keep private files in', folder, distrust);
    },
  };
}

function translated<T>(tried: string, place: string, act: () => T): T {
  const failure = (code: TrustedFileErrorCode, found: string, cause: Error) =>
    new trustedFiles.TrustedFileError(code, tried, place, found, { cause });
  try {
    return act();
  } catch (error) {
    if (error instanceof TextError) throw failure('unknown', error.message, error);
    if (!(error instanceof WindowsError)) throw trustedFiles.fileSystemError(error, tried, place);
    const { functionName, errorNumber, symbol } = error;
    const found = functionName
      ? `${functionName} failed with ${symbol ?? `error ${errorNumber ?? 0}`}`
      : error.message;
    throw failure(CODES[error.code] ?? 'unknown', found, error);
  }
}

/**
 * Returns a reason for distrust, or undefined. A file is distrusted when anyone except SYSTEM, administrators,
 * TrustedInstaller and this account could have put it there or can change it, or when its path contains a link or
 * resolves to another file. The walk goes down from the drive and reads each step through folders already found safe,
 * so that nobody else can change the steps afterwards.
 *
 * @param file in its canonical spelling, `C:\a\b.exe`.
 * @throws WindowsError `notFound`, and others of the system.
 */
export function distrustOfFile(file: string): Distrust | undefined {
  return distrustOfSteps(judgement.stepsTo(file), ['folder', 'file']);
}

/** Works like {@link distrustOfFile}, for a folder: distrusts it when anyone else could have created it or can add to it. */
export function distrustOfFolder(folder: string): Distrust | undefined {
  return distrustOfSteps(judgement.stepsTo(folder), ['folder']);
}

/** `wanted` gives the expected kinds of the last steps; the steps before them are ancestors. */
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
 * Creates a folder that only SYSTEM, administrators and this account can use, or checks that an existing folder is safe:
 * no link in its path, and nobody else can write in it or replace it. Creates missing parents with default rights, each
 * only inside a folder that was found safe, so that no junction can redirect it.
 */
function makePrivateFolder(absolute: string): Distrust | undefined {
  // An account with administrator rights is not named in the list: another administrator, or the daemon as SYSTEM,
  // could not distinguish it from a stranger.
  const makePrivately = (step: string): void => createFolder(step, listFor(0o700, true));
  return walkToPrivateFolder(absolute, (step, isFolder) =>
    factsOrMade(step, isFolder ? makePrivately : mkdirSync),
  );
}

/** Judges each step on the way to the folder, up to the first step for which `take` returns nothing. */
function walkToPrivateFolder(
  absolute: string,
  take: (step: string, isFolder: boolean) => judgement.FileFacts | undefined,
): Distrust | undefined {
  const folder = path.win32.resolve(absolute);
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
    // Another process created this step in the meantime; the next check judges its owner.
    const isThere = error instanceof WindowsError && error.code === 'alreadyExists';
    if (!isThere && errnoOf(error) !== 'EEXIST') throw error;
  }
  return judgement.readFileFacts(step);
}

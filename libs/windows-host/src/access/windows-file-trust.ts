import {
  distrusted,
  fileSystemError,
  TrustedFileError,
  type FileTrust,
  type TrustedFileErrorCode,
  type Distrust,
} from '@wins/trusted-files';
import { TextError, errnoOf } from '@wins/base';
import path from 'node:path';
import { WindowsError, type WindowsErrorCode, unlessFails } from '../windows-error.js';
import { mkdirSync } from 'node:fs';
import { createFolder, listFor } from './private-file.js';
import { processAccount } from './process-account.js';
import {
  readFileFacts,
  type FileFacts,
  judgeStep,
  privateFolderMending,
  stepsTo,
} from './trusted-file-judgement.js';

const CODES: Readonly<Partial<Record<WindowsErrorCode, TrustedFileErrorCode>>> = {
  accessDenied: 'accessDenied',
  alreadyExists: 'alreadyExists',
  notFound: 'notFound',
  busy: 'inUse',
};

/**
 * Trust by owner and access list: only SYSTEM, administrators, TrustedInstaller and the account of this process may write. Links,
 * junctions and mount points are refused in any case. Paths may have either separator, and must begin with the letter of a drive.
 */
export function windowsFileTrust(): FileTrust {
  return {
    distrustOfFile: (file) =>
      translated('inspect', file, () => distrustOfFile(path.win32.resolve(file))),
    distrustOfFolder: (folder) =>
      translated('inspect', folder, () => distrustOfFolder(path.win32.resolve(folder))),
    distrustOfPrivateFolder: (folder) =>
      translated('inspect', folder, () => distrustOfPrivateFolder(folder)),
    ensurePrivateFolder: (folder) => {
      const distrust = translated('make the folder', folder, () => makePrivateFolder(folder));
      if (distrust !== undefined) throw distrusted('keep private files in', folder, distrust);
    },
  };
}

function translated<T>(tried: string, place: string, act: () => T): T {
  const failure = (code: TrustedFileErrorCode, found: string, cause: Error): TrustedFileError =>
    new TrustedFileError(code, tried, place, found, { cause });
  try {
    return act();
  } catch (error) {
    if (error instanceof TextError) throw failure('unknown', error.message, error);
    if (!(error instanceof WindowsError)) throw fileSystemError(error, tried, place);
    const { functionName, errorNumber, symbol } = error;
    const found = functionName
      ? `${functionName} failed with ${symbol ?? `error ${errorNumber ?? 0}`}`
      : error.message;
    throw failure(CODES[error.code] ?? 'unknown', found, error);
  }
}

/**
 * Returns a reason for distrust, or undefined. A file is distrusted when anyone except SYSTEM, administrators,
 * TrustedInstaller and this account could have put it there or can change it. So is one whose path contains a link or
 * resolves to another file.
 *
 * The walk goes down from the drive, so that each step is read through folders already known to be safe, and its
 * findings stay true.
 *
 * @param file in its canonical spelling, `C:\a\b.exe`.
 * @throws WindowsError `notFound`, and what else the system says.
 */
export function distrustOfFile(file: string): Distrust | undefined {
  return distrustOfSteps(stepsTo(file), ['folder', 'file']);
}

/**
 * Judges a folder in the same way: whether anyone else could have put it there or can add to it.
 *
 * @param folder in its canonical spelling, `C:\a\b`.
 * @throws WindowsError `notFound`, and what else the system says.
 */
export function distrustOfFolder(folder: string): Distrust | undefined {
  return distrustOfSteps(stepsTo(folder), ['folder']);
}

/** @param wanted what the last steps are to be; those before are ancestors. */
function distrustOfSteps(
  steps: readonly string[],
  wanted: readonly ('folder' | 'file')[],
): Distrust | undefined {
  const trusted = [processAccount().user];
  const ancestors = steps.length - wanted.length;
  for (const [index, step] of steps.entries()) {
    const distrust = judgeStep(
      readFileFacts(step),
      wanted[index - ancestors] ?? 'ancestor',
      trusted,
    );
    if (distrust !== undefined) return distrust;
  }
  return undefined;
}

/**
 * Creates a folder that only SYSTEM, administrators and this kind of account can use, or checks that an existing one is
 * safe: no link in its path, and nobody else can write in it or replace it. Creates missing parents with default
 * rights, each only inside a folder that was found safe, so that no junction can redirect it.
 *
 * @param absolute its absolute path.
 * @returns Why it is not safe; undefined when it is.
 * @throws WindowsError
 */
export function makePrivateFolder(absolute: string): Distrust | undefined {
  // An account with administrator rights is not named in the list: another administrator, or the daemon as SYSTEM,
  // could not distinguish it from a stranger.
  const makePrivately = (step: string): void => createFolder(step, listFor(0o700, true));
  return walkToPrivateFolder(absolute, (step, isFolder) =>
    factsOrMade(step, isFolder ? makePrivately : mkdirSync),
  );
}

/**
 * Judges a folder as {@link makePrivateFolder} does, without creating it: for a missing folder, judges only the
 * existing folders above it.
 */
export function distrustOfPrivateFolder(absolute: string): Distrust | undefined {
  return walkToPrivateFolder(absolute, factsIfThere);
}

function walkToPrivateFolder(
  absolute: string,
  take: (step: string, isFolder: boolean) => FileFacts | undefined,
): Distrust | undefined {
  const folder = path.win32.resolve(absolute);
  const { user } = processAccount();
  for (const step of stepsTo(folder)) {
    const isFolder = step === folder;
    const facts = take(step, isFolder);
    if (facts === undefined) return undefined;
    const distrust = judgeStep(facts, isFolder ? 'folder' : 'ancestor', [user]);
    if (distrust === undefined) continue;
    const remedy = isFolder ? privateFolderMending(folder, facts.sddl, user) : '';
    return remedy === '' ? distrust : { ...distrust, remedy };
  }
  return undefined;
}

function factsIfThere(step: string): FileFacts | undefined {
  return unlessFails(() => readFileFacts(step), 'notFound');
}

function factsOrMade(step: string, make: (step: string) => void): FileFacts {
  const found = factsIfThere(step);
  if (found !== undefined) return found;
  try {
    make(step);
  } catch (error) {
    // Another process created it in the meantime; the next check judges its owner.
    const isThere = error instanceof WindowsError && error.code === 'alreadyExists';
    if (!isThere && errnoOf(error) !== 'EEXIST') throw error;
  }
  return readFileFacts(step);
}

import type { Distrust } from '@wins/trusted-files';
import { errnoOf } from '@wins/wins-program';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { createFolder, listFor } from './private-file.js';
import { processAccount } from './process-account.js';
import { readFileFacts, type FileFacts } from './trusted-file-facts.js';
import { judgeStep, privateFolderMending, stepsTo } from './trusted-file-judgement.js';
import { unlessFails, WindowsError } from '../windows-error.js';

/**
 * Looks whether someone else than SYSTEM, administrators, TrustedInstaller and this account could have put a file where it is,
 * or can change it; whether a link is in its path; and whether its path means another file. `undefined` when all is well.
 *
 * The walk goes down from the drive, so each step is looked at through folders that are known to be safe, and what was found
 * stays true.
 *
 * @param file in its canonical spelling, `C:\a\b.exe`.
 * @throws WindowsError `notFound`, and what else the system says.
 */
export function distrustOfFile(file: string): Distrust | undefined {
  return distrustOfSteps(stepsTo(file), ['folder', 'file']);
}

/**
 * The same for a folder: whether someone else could have put it where it is, or anything into it.
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
 * Makes a folder that only SYSTEM, administrators and an account like this one can use, or looks whether one that is there already is
 * safe from others: no link in its path, and no one else can write in it or put another in its place. The folders above it are made as
 * folders are made; each is made only in one that was found safe, so that no junction leads the making elsewhere.
 *
 * @param absolute its absolute path.
 * @returns Why it is not safe; undefined when it is.
 * @throws WindowsError
 */
export function makePrivateFolder(absolute: string): Distrust | undefined {
  // One that has the rights of administrators is one of them and not named: another administrator, or the daemon as SYSTEM, could not
  // tell it from a stranger.
  const makePrivately = (step: string): void => createFolder(step, listFor(0o700, true));
  return walkToPrivateFolder(absolute, (step, isFolder) =>
    factsOrMade(step, isFolder ? makePrivately : mkdirSync),
  );
}

/** Judges a folder as {@link makePrivateFolder} does, and makes nothing: of what is not there yet only the folders above are judged. */
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
    // Someone else made it meanwhile: the look says who.
    const isThere = error instanceof WindowsError && error.code === 'alreadyExists';
    if (!isThere && errnoOf(error) !== 'EEXIST') throw error;
  }
  return readFileFacts(step);
}

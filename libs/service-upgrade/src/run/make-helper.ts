import { readdir } from 'node:fs/promises';
import { isRunnable } from '../plan/program-format.js';
import { copyProgram, makeRunnable } from './program-identity.js';
import type { UpgradeContext } from './upgrade-context.js';
import { UpgradeError } from '../upgrade-error.js';
import { HELPER_PREFIX, helperPath, type UpgradePlaces } from '../journal/upgrade-places.js';

/**
 * Copies a program to where the helper runs from. A daemon ends what runs its verified copies, and a target is replaced, so the
 * helper must not run from either. The caller holds the lock until it has started it: a sweep may find a helper that does not run yet.
 *
 * @returns The copy; what becomes of it goes with the next sweep.
 * @throws UpgradeError `refused`; `fileFailed`.
 */
export async function makeHelper(
  context: Pick<UpgradeContext, 'effects' | 'host'>,
  places: UpgradePlaces,
  program: string,
): Promise<string> {
  const helper = helperPath(places);
  const { format } = await copyProgram(context.effects, 'helper', program, helper);
  if (!isRunnable(format, context.host.platform, context.host.arch)) {
    throw new UpgradeError(
      'refused',
      `cannot leave the run: ${program} is not a program by itself`,
    );
  }
  await makeRunnable(context.effects, helper);
  return helper;
}

/** The names of helpers that are still there, running or not. */
export async function helpersIn({ folder }: UpgradePlaces): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith(HELPER_PREFIX));
}

import { errnoOf } from '@wins/base';
import type { Dirent } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { readFolder } from '../read-folder.js';

const PLAN = '.plan';
const SKIP = '.plan.skip';
/** Limits the search, because a larger tree is hardly a folder of plans. */
const MAX_ENTRIES = 10_000;
const MAX_DEPTH = 32;

/**
 * Finds files named `*.plan`, without a leading dot. Omits `x.plan` if `x.plan.skip` is anywhere in the tree.
 * Follows no links to folders, and follows links to files only if their targets are in the tree.
 * A missing folder has no plans. @throws errors of Node for an unreadable folder.
 */
export async function findLocalPlans(folder: string) {
  const plans: string[] = [];
  const skipped = new Set<string>();
  /** Why the search was incomplete. */
  const faults: string[] = [];
  let entries = 0;
  const root = await realpath(folder).catch(noFolder);
  if (root === undefined) return { plans, faults };

  const walk = async (at: string, depth: number): Promise<void> => {
    for (const entry of await readFolder(at, MAX_ENTRIES - entries + 1)) {
      entries += 1;
      if (entries > MAX_ENTRIES) return;
      const location = path.join(at, entry.name);
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH) await walk(location, depth + 1).catch(noFolder);
        else faults.push(`folders nested deeper than ${MAX_DEPTH}`);
        continue;
      }
      if (entry.name.endsWith(SKIP)) skipped.add(entry.name.slice(0, -'.skip'.length));
      if (!entry.name.endsWith(PLAN) || entry.name.startsWith('.')) continue;
      if (await isFileWithin(root, location, entry)) plans.push(location);
      else faults.push('a plan that is a link out of the folder, or no file');
    }
  };
  await walk(folder, 1);
  if (entries > MAX_ENTRIES) faults.push(`more than ${MAX_ENTRIES} files`);
  return { plans: plans.filter((plan) => !skipped.has(path.basename(plan))), faults };
}

async function isFileWithin(root: string, location: string, entry: Dirent): Promise<boolean> {
  if (entry.isFile()) return true;
  if (!entry.isSymbolicLink()) return false;
  try {
    const inside = path.relative(root, await realpath(location));
    const isOutside = inside.split(path.sep)[0] === '..' || path.isAbsolute(inside);
    return !isOutside && (await stat(location)).isFile();
  } catch {
    return false;
  }
}

/** The folder may have been removed during the search. */
function noFolder(error: unknown): undefined {
  if (errnoOf(error) === 'ENOENT') return undefined;
  throw error;
}

import type { Leftover, LeftoverSearch, ProcessTree } from '@wins/wins-program';
import { ancestry, parentOf, type ProcessEntry } from './windows-process-table.js';
import { endProcess, isRunning, type ProcessIdentity } from './windows-process.js';

/** A process of an earlier daemon. */
export type FoundLeftover = ProcessIdentity & Omit<Leftover, keyof ProcessTree>;

/**
 * Picks the processes of earlier daemons. Pure. A dead daemon's jobs are closed and what was in them has ended, so what is left
 * is what left its job, or had none. A process that is still in a job and whose parent still runs is claimed.
 * Neither this process nor its ancestors are ever picked.
 */
export function pickLeftovers(
  processes: ReadonlyMap<number, ProcessEntry>,
  search: LeftoverSearch,
  ownPid: number,
): readonly FoundLeftover[] {
  const executables = new Set(search.executables.map(foldAscii));
  const remembered = new Map(
    search.remembered.map(({ pid, startToken, mark }) => [`${pid}:${startToken}`, mark]),
  );
  const ours = ancestry(processes, ownPid);
  return [...processes.values()].flatMap((entry): FoundLeftover[] => {
    const { pid, created, image } = entry;
    if (ours.has(pid)) return [];
    const identity = `${pid}:${created}`;
    const isSpared = identity === search.spared;
    const mark = remembered.get(identity);
    if (mark !== undefined) return [{ pid, created, evidence: 'record', mark, claimed: isSpared }];
    if (image === undefined || !executables.has(foldAscii(image))) return [];
    const claimed = isSpared || (entry.isInJob && parentOf(processes, entry) !== undefined);
    return [{ pid, created, evidence: 'executable', mark: undefined, claimed }];
  });
}

/** The process behind it, as something that can be ended; by number and time, each time anew, never by number alone. */
export function leftoverTree(identity: ProcessIdentity): ProcessTree {
  return {
    isGone: () => Promise.resolve(tolerant(() => !isRunning(identity)) ?? false),
    terminate: () => {
      tolerant(() => endProcess(identity));
      return Promise.resolve();
    },
  };
}

// That it may not be ended shows in that it stays.
function tolerant<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

function foldAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

import type { RunMarker, LinuxProcessEntry } from './linux-process-entry.js';
import type { Leftover, LeftoverSearch } from '@wins/base';
import type { LinuxProcessTable } from './linux-process-table.js';
import { createMarkReader, inTurns } from './mark-reader.js';
import { sendSignal } from './posix-process.js';
import { ENVIRONMENTS_PER_TURN, indexTrees } from './tree-members.js';

const NO_PID = -1;

export interface LeftoverContext {
  readonly table: LinuxProcessTable;
  readonly isDaemonAlive: (daemon: string) => boolean;
  readonly startTokenOf: (entry: LinuxProcessEntry) => string;
}

/**
 * Finds processes of earlier daemons, but never this process or its ancestors. A PID alone is not evidence. Each of these is:
 *
 * - a mark that a dead daemon of the same lineage set;
 * - a record with the same PID and start time, which counts for the whole process tree, or with the mark that a dead daemon set;
 * - a verified copy of a program, if the process runs that copy.
 */
export async function findLeftovers(
  context: LeftoverContext,
  search: LeftoverSearch,
): Promise<readonly Leftover[]> {
  const { table } = context;
  const processes = await table.processes();
  const found = new Map<number, Leftover>();
  const ours = ancestry((pid) => processes.get(pid)?.parentPid);
  type Facts = Pick<Leftover, 'evidence' | 'mark' | 'claimed'>;
  const add = (entry: LinuxProcessEntry, facts: Facts): void => {
    const { pid } = entry;
    if (ours.has(pid) || found.has(pid)) return;
    const isSpared = `${pid}:${context.startTokenOf(entry)}` === search.spared;
    found.set(pid, leftover(table, entry, { ...facts, claimed: facts.claimed || isSpared }));
  };
  const { remembered } = search;
  const trees = remembered.length > 0 ? await indexTrees([...processes.values()]) : undefined;
  for (const { mark, pid, startToken } of remembered) {
    const entry = processes.get(pid);
    const isThere = entry !== undefined && context.startTokenOf(entry) === startToken;
    // Without its leader, a tree is known by the mark of a dead daemon alone: the number of its session may belong to another one.
    const leader = isThere
      ? { mark, pid, startTicks: entry.startTicks }
      : { mark, pid: NO_PID, startTicks: 0 };
    const members = trees?.membersOf(leader) ?? [];
    if (!isThere && members.some(({ marker }) => isClaimed(context, marker))) continue;
    for (const member of members) add(member, { evidence: 'record', mark, claimed: false });
  }
  const executables = new Set(search.executables);
  const markerOf = createMarkReader();
  for await (const entry of inTurns(processes.values(), ENVIRONMENTS_PER_TURN)) {
    if (executables.size > 0 && executables.has(entry.executable ?? '')) {
      const marker = await markerOf(entry);
      const leader = processes.get(entry.sessionId);
      const markers = [marker, leader && (await markerOf(leader))];
      const claimed = markers.some((each) => isClaimed(context, each));
      add(entry, { evidence: 'executable', mark: marker?.mark, claimed });
    } else if (search.lineage !== undefined) {
      const marker = await markerOf(entry);
      // Each lineage of daemons ends only its own leftovers, so two lineages on one host do not interfere.
      const isOurs = marker?.lineage === search.lineage && !isClaimed(context, marker);
      if (isOurs) add(entry, { evidence: 'marker', mark: marker.mark, claimed: false });
    }
  }
  return [...found.values()];
}

function isClaimed(context: LeftoverContext, marker: RunMarker | undefined): boolean {
  return marker !== undefined && context.isDaemonAlive(marker.daemon);
}

/** This process and its ancestors are no leftovers, even if an earlier daemon started and marked them. */
function ancestry(parentOf: (pid: number) => number | undefined): Set<number> {
  const pids = new Set<number>();
  for (let pid = process.pid; pid > 0 && !pids.has(pid);) {
    pids.add(pid);
    pid = parentOf(pid) ?? 0;
  }
  return pids;
}

function leftover(
  table: LinuxProcessTable,
  entry: LinuxProcessEntry,
  facts: Pick<Leftover, 'evidence' | 'mark' | 'claimed'>,
): Leftover {
  const { pid } = entry;
  return {
    pid,
    ...facts,
    isGone: () => Promise.resolve(!table.lives(entry)),
    terminate: (mode) => {
      if (table.lives(entry)) sendSignal(pid, mode === 'force' ? 'SIGKILL' : 'SIGTERM');
      return Promise.resolve();
    },
  };
}

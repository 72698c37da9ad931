import { inTurns } from './in-turns.js';
import type { LinuxProcessEntry } from './linux-process-entry.js';
import type { LinuxProcessTable } from './linux-process-table.js';
import { createMarkReader } from './mark-reader.js';
import type { RunMarker } from './run-marker.js';
import { sendSignal } from './send-signal.js';
import { ENVIRONMENTS_PER_TURN, findTreeMembers } from './tree-members.js';

/** Where to look for leftovers. */
export interface LeftoverSearch {
  /** Programs; a process that runs one of them belongs to a run. */
  readonly executables: readonly string[];
  /** Processes of daemons that are known to be dead. */
  readonly remembered: readonly {
    readonly mark: string;
    readonly pid: number;
    readonly startToken: string;
  }[];
  /** Also every process that carries the mark of a dead daemon of this lineage. */
  readonly lineage?: string;
  /** A process that is claimed whatever shows that it is a leftover: `PID:start token`. */
  readonly spared?: string | undefined;
}

/** A process that an earlier daemon started. */
export interface FoundLeftover {
  readonly pid: number;
  /** What shows whose it is. */
  readonly evidence: 'marker' | 'record' | 'executable';
  readonly mark: string | undefined;
  /** A daemon that still runs claims it, or the search spares it: it must be left alone. */
  readonly claimed: boolean;
  /** True once it does not run. Never rejects. */
  isGone(): Promise<boolean>;
  /** Asks (SIGTERM) or forces (SIGKILL) it to end. Repeatable. */
  terminate(mode: 'graceful' | 'force'): Promise<void>;
}

/** What is known about this daemon and others. */
export interface LeftoverContext {
  readonly table: LinuxProcessTable;
  readonly isDaemonAlive: (daemon: string) => boolean;
  readonly startTokenOf: (entry: LinuxProcessEntry) => string;
}

/**
 * Finds processes of earlier daemons by more than their PID: by the mark of a dead daemon of the same lineage, by a
 * record whose PID and start time both match (then with the whole tree), or by the verified copy
 * that they run. Neither this process nor its ancestors are ever listed.
 */
export async function findLeftovers(
  context: LeftoverContext,
  search: LeftoverSearch,
): Promise<readonly FoundLeftover[]> {
  const { table } = context;
  const processes = await table.processes();
  const found = new Map<number, FoundLeftover>();
  const ours = ancestry((pid) => processes.get(pid)?.parentPid);
  const add = (
    entry: LinuxProcessEntry,
    evidence: FoundLeftover['evidence'],
    mark: string | undefined,
    claimed = false,
  ): void => {
    const { pid } = entry;
    if (ours.has(pid) || found.has(pid)) return;
    const isSpared = `${pid}:${context.startTokenOf(entry)}` === search.spared;
    found.set(pid, leftover(table, entry, { evidence, mark, claimed: claimed || isSpared }));
  };

  for (const { mark, pid, startToken } of search.remembered) {
    const entry = processes.get(pid);
    if (entry === undefined || context.startTokenOf(entry) !== startToken) continue;
    const leader = { mark, pid, startTicks: entry.startTicks };
    for (const member of await findTreeMembers(processes, leader)) add(member, 'record', mark);
  }
  const executables = new Set(search.executables);
  const markerOf = createMarkReader();
  for await (const entry of inTurns(processes.values(), ENVIRONMENTS_PER_TURN)) {
    if (executables.size > 0 && executables.has(entry.executable ?? '')) {
      const marker = await markerOf(entry);
      const leader = processes.get(entry.sessionId);
      const markers = [marker, leader && (await markerOf(leader))];
      const claimed = markers.some((each) => isClaimed(context, each));
      add(entry, 'executable', marker?.mark, claimed);
    } else if (search.lineage !== undefined) {
      const marker = await markerOf(entry);
      if (isOrphanOf(search.lineage, marker, context)) add(entry, 'marker', marker?.mark);
    }
  }
  return [...found.values()];
}

// Another lineage of daemons ends its own leftovers; two lineages on one host leave each other's alone.
function isOrphanOf(
  lineage: string,
  marker: RunMarker | undefined,
  context: LeftoverContext,
): boolean {
  return marker?.lineage === lineage && !isClaimed(context, marker);
}

function isClaimed(context: LeftoverContext, marker: RunMarker | undefined): boolean {
  return marker !== undefined && context.isDaemonAlive(marker.daemon);
}

/** This process and those that started it: a daemon that an earlier one started carries that one's mark. */
export function ancestry(parentOf: (pid: number) => number | undefined): Set<number> {
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
  facts: Pick<FoundLeftover, 'evidence' | 'mark' | 'claimed'>,
): FoundLeftover {
  const { pid } = entry;
  return {
    pid,
    ...facts,
    isGone: () => Promise.resolve(!table.lives(entry)),
    terminate: (mode) => {
      if (table.lives(entry)) sendSignal(pid, mode);
      return Promise.resolve();
    },
  };
}

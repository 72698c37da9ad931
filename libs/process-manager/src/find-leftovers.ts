import type { LinuxProcessTable, ProcessEntry } from './linux-process-table.js';
import type { Leftover, LeftoverSearch } from './process-host.js';
import type { RunMarker } from './run-marker.js';
import { sendSignal } from './send-signal.js';
import { findTreeMembers } from './tree-members.js';

/** What is known about this daemon and others. */
export interface LeftoverContext {
  readonly table: LinuxProcessTable;
  readonly isDaemonAlive: (daemon: string) => boolean;
  readonly startTokenOf: (entry: ProcessEntry) => string;
}

/**
 * Finds processes of earlier daemons by more than their PID: by the mark of a dead daemon, by a
 * record whose PID and start time both match (then with the whole tree), or by the verified copy
 * that they run. Neither this process nor its ancestors are ever listed.
 */
export async function findLeftovers(
  context: LeftoverContext,
  search: LeftoverSearch,
): Promise<readonly Leftover[]> {
  const { table } = context;
  const found = new Map<number, Leftover>();
  const ours = ancestry(table);
  const add = (
    entry: ProcessEntry | undefined,
    evidence: Leftover['evidence'],
    runId: string | undefined,
    claimed = false,
  ): void => {
    if (entry === undefined || ours.has(entry.pid) || found.has(entry.pid)) return;
    found.set(entry.pid, leftover(table, entry, { evidence, runId, claimed }));
  };

  for (const { runId, pid, startToken } of search.remembered) {
    const entry = table.entry(pid);
    if (entry === undefined || context.startTokenOf(entry) !== startToken) continue;
    const leader = { runId, pid, startTicks: entry.startTicks };
    for (const member of await findTreeMembers(table, leader)) add(member, 'record', runId);
  }
  const executables = new Set(search.executables);
  for await (const pid of table.pids()) {
    const executable = executables.size === 0 ? undefined : table.executable(pid);
    if (executable !== undefined && executables.has(executable)) {
      const entry = table.entry(pid);
      const marks = [table.marker(pid), entry && table.marker(entry.sessionId)];
      add(
        entry,
        'executable',
        marks[0]?.runId,
        marks.some((mark) => isClaimed(context, mark)),
      );
    } else if (search.marked) {
      const mark = table.marker(pid);
      if (mark !== undefined && !isClaimed(context, mark)) {
        add(table.entry(pid), 'marker', mark.runId);
      }
    }
  }
  return [...found.values()];
}

function isClaimed(context: LeftoverContext, mark: RunMarker | undefined): boolean {
  return mark !== undefined && context.isDaemonAlive(mark.daemon);
}

// A daemon may itself have been started through an earlier one, and then it carries that one's mark.
function ancestry(table: LinuxProcessTable): Set<number> {
  const pids = new Set<number>();
  for (let pid = process.pid; pid > 0 && !pids.has(pid); pid = table.entry(pid)?.parentPid ?? 0) {
    pids.add(pid);
  }
  return pids;
}

function leftover(
  table: LinuxProcessTable,
  { pid, startTicks }: ProcessEntry,
  facts: Pick<Leftover, 'evidence' | 'runId' | 'claimed'>,
): Leftover {
  const lives = (): boolean => table.entry(pid)?.startTicks === startTicks;
  return {
    pid,
    ...facts,
    isGone: () => Promise.resolve(!lives()),
    terminate: (mode) => {
      if (lives()) sendSignal(pid, mode);
      return Promise.resolve();
    },
  };
}

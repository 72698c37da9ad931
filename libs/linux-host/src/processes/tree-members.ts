import { setImmediate as nextTurn } from 'node:timers/promises';

import type { LinuxProcessEntry } from './linux-process-entry.js';
import { createMarkReader, type MarkedProcess } from './mark-reader.js';

/** Environments to read before the event loop runs again. Each may be as large as 4 MiB. */
export const ENVIRONMENTS_PER_TURN = 4;

export type TreeProcess = MarkedProcess &
  Pick<LinuxProcessEntry, 'pid' | 'parentPid' | 'sessionId' | 'startTicks' | 'isMarkRead'>;

export interface TreeLeader {
  readonly mark: string;
  readonly pid: number;
  readonly startTicks: number;
}

/**
 * Finds the living processes of a run: those in the leader's session, those with the run's mark, and all their descendants. The mark finds
 * processes that created their own session. The session finds processes that overwrote their environment, for example to set their title.
 * `/proc` cannot find a process that did both and lost its parent.
 *
 * No process that started before the leader belongs to the run. If the leader's PID was reused, the session with that number is ignored.
 */
export async function findTreeMembers<Process extends TreeProcess>(
  processes: ReadonlyMap<number, Process>,
  leader: TreeLeader,
): Promise<Process[]> {
  const candidates = [...processes.values()].filter((entry) => mayBelong(entry, leader));
  return (await indexTrees(candidates)).membersOf(leader);
}

export interface TreeIndex<Process> {
  membersOf(leader: TreeLeader): Process[];
}

/** Reads each environment at most once, for any number of trees. */
export async function indexTrees<Process extends TreeProcess>(
  processes: readonly Process[],
): Promise<TreeIndex<Process>> {
  const markerOf = createMarkReader();
  const byMark = new Map<string, Process[]>();
  let environments = 0;
  for (const entry of processes) {
    if (!entry.isMarkRead) {
      environments += 1;
      if (environments % ENVIRONMENTS_PER_TURN === 0) await nextTurn();
    }
    const marker = entry.isMarkRead ? entry.marker : await markerOf(entry);
    if (marker !== undefined) addTo(byMark, marker.mark, entry);
  }
  const byPid = new Map<number, Process>();
  const bySession = new Map<number, Process[]>();
  const byParent = new Map<number, Process[]>();
  for (const entry of processes) {
    byPid.set(entry.pid, entry);
    addTo(bySession, entry.sessionId, entry);
    addTo(byParent, entry.parentPid, entry);
  }
  return {
    membersOf: (leader) => {
      const startTicks = byPid.get(leader.pid)?.startTicks ?? leader.startTicks;
      const session = startTicks === leader.startTicks ? bySession.get(leader.pid) : undefined;
      const left = [...(session ?? []), ...(byMark.get(leader.mark) ?? [])];
      const members = new Map<number, Process>();
      for (let entry = left.pop(); entry !== undefined; entry = left.pop()) {
        if (members.has(entry.pid) || !mayBelong(entry, leader)) continue;
        members.set(entry.pid, entry);
        left.push(...(byParent.get(entry.pid) ?? []));
      }
      return [...members.values()];
    },
  };
}

function mayBelong({ pid, startTicks }: TreeProcess, leader: TreeLeader): boolean {
  return startTicks >= leader.startTicks && pid !== process.pid;
}

function addTo<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

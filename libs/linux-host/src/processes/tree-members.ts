import { inTurns } from './in-turns.js';
import type { LinuxProcessEntry } from './linux-process-entry.js';
import { createMarkReader, type MarkedProcess } from './mark-reader.js';

/**
 * Environments that are read before others run. Each process chooses the size of its own, of which up to 4 MiB
 * are read.
 */
export const ENVIRONMENTS_PER_TURN = 4;

/** What decides whether a process belongs to a run. */
export type TreeProcess = MarkedProcess &
  Pick<LinuxProcessEntry, 'pid' | 'parentPid' | 'sessionId' | 'startTicks'>;

/** The leader of a run, which may have ended already. */
export interface TreeLeader {
  readonly mark: string;
  readonly pid: number;
  readonly startTicks: number;
}

/**
 * Finds the living processes of a run: those in the leader's session, those that carry the run's
 * mark, and the children of any of these. The mark finds what made a session of its own; the
 * session finds what overwrote its environment (programs that set their title do). A process that
 * did both and lost its parent is beyond `/proc` and not found.
 *
 * Nothing that started before the leader can belong to it. When the leader's PID has been given to
 * another process, a session of that number is not ours, and only the mark and parents count.
 */
export async function findTreeMembers<Process extends TreeProcess>(
  processes: ReadonlyMap<number, Process>,
  leader: TreeLeader,
): Promise<Process[]> {
  const atLeaderPid = processes.get(leader.pid);
  const reused = atLeaderPid !== undefined && atLeaderPid.startTicks !== leader.startTicks;
  const candidates = [...processes.values()].filter(
    (entry) => entry.startTicks >= leader.startTicks && entry.pid !== process.pid,
  );
  const markerOf = createMarkReader();
  const members = new Map<number, Process>();
  for await (const entry of inTurns(candidates, ENVIRONMENTS_PER_TURN)) {
    const inSession = !reused && entry.sessionId === leader.pid;
    if (inSession || (await markerOf(entry))?.mark === leader.mark) members.set(entry.pid, entry);
  }
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const entry of candidates) if (members.has(entry.parentPid)) members.set(entry.pid, entry);
  }
  return [...members.values()];
}

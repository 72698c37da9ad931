import type { LinuxProcessTable, ProcessEntry } from './linux-process-table.js';

/** The leader of a run, which may have ended already. */
export interface TreeLeader {
  readonly runId: string;
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
 *
 * @throws what reading `/proc` throws, for example EMFILE.
 */
export async function findTreeMembers(
  table: LinuxProcessTable,
  leader: TreeLeader,
): Promise<ProcessEntry[]> {
  const entries = await table.entries();
  const atLeaderPid = entries.get(leader.pid);
  const reused = atLeaderPid !== undefined && atLeaderPid.startTicks !== leader.startTicks;
  const candidates = [...entries.values()].filter(
    (entry) => entry.startTicks >= leader.startTicks && entry.pid !== process.pid,
  );
  const members = new Map<number, ProcessEntry>();
  for (const entry of candidates) {
    const inSession = !reused && entry.sessionId === leader.pid;
    if (inSession || table.marker(entry.pid)?.runId === leader.runId) members.set(entry.pid, entry);
  }
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const entry of candidates) if (members.has(entry.parentPid)) members.set(entry.pid, entry);
  }
  return [...members.values()];
}

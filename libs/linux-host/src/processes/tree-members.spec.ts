import { findTreeMembers, type TreeProcess } from './tree-members.js';

const RUN_ID = 'ab'.repeat(16);
const LEADER = { mark: RUN_ID, pid: 100, startTicks: 5000 };
const MARKER = { mark: RUN_ID, lineage: 'cd'.repeat(8), daemon: '7:1.2.x' };

async function membersAmong(...processes: Partial<TreeProcess>[]): Promise<number[]> {
  const unmarked = { marker: undefined, isBetweenPrograms: false, isMarkRead: false };
  const stranger = { parentPid: 1, sessionId: 1, startTicks: 6000, ...unmarked };
  const entries = processes.map((process, index) => ({
    pid: 200 + index,
    ...stranger,
    ...process,
  }));
  const members = await findTreeMembers(
    new Map(entries.map((entry) => [entry.pid, entry])),
    LEADER,
  );
  return members.map(({ pid }) => pid).sort();
}

describe('findTreeMembers', () => {
  it('finds the session, the marked, and the children of both, and no stranger', async () => {
    const leader = { pid: 100, sessionId: 100, startTicks: 5000 };
    await expect(
      membersAmong(
        leader,
        { pid: 101, sessionId: 100 },
        { pid: 102, marker: MARKER },
        { pid: 103, parentPid: 102 },
        { pid: 104, parentPid: 103 },
        { pid: 105, marker: { ...MARKER, mark: 'cd'.repeat(16) } },
        { pid: 106 },
      ),
    ).resolves.toEqual([100, 101, 102, 103, 104]);
  });

  it('finds the session of a leader that is gone', async () => {
    await expect(membersAmong({ pid: 101, sessionId: 100 })).resolves.toEqual([101]);
  });

  it('leaves a session alone whose number now belongs to another process (F16)', async () => {
    const reused = { pid: 100, sessionId: 100, startTicks: 9000 };
    const member = { pid: 101, sessionId: 100, startTicks: 9001 };
    await expect(membersAmong(reused, member, { pid: 102, marker: MARKER })).resolves.toEqual([
      102,
    ]);
  });

  it('takes nothing that is older than the leader, and never this process', async () => {
    const own = { pid: process.pid, marker: MARKER };
    await expect(membersAmong({ marker: MARKER, startTicks: 4999 }, own)).resolves.toEqual([]);
  });
});

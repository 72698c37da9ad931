import { formatRunMarker } from './linux-process-entry.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findLeftovers } from './find-leftovers.js';
import { LinuxProcessTable } from './linux-process-table.js';
import { createMarkReader } from './mark-reader.js';
import { findTreeMembers } from './tree-members.js';

const MARKER = { mark: 'ab'.repeat(16), lineage: 'cd'.repeat(8), daemon: '7:8.9.x' };
/** Enough to notice a reader that does not wait during `execve`: it would miss the mark in one of ten looks. */
const LOOKS = 50;

describe('the mark of a process that becomes another program, and another, all the time', () => {
  const table = new LinuxProcessTable();
  const directory = mkdtempSync(path.join(tmpdir(), 'linux-host-'));
  const shell = path.join(directory, 'sh');
  let pid = 0;
  let end: () => Promise<unknown>;

  beforeAll(async () => {
    copyFileSync(realpathSync('/bin/sh'), shell);
    const again = 'exec "$0" -c "$1" "$0" "$1"';
    const child = spawn(shell, ['-c', again, shell, again], {
      detached: true,
      stdio: 'ignore',
      env: { RANCHER_WINS_RUN: formatRunMarker(MARKER) },
    });
    await once(child, 'spawn');
    pid = child.pid ?? 0;
    end = () => {
      child.kill('SIGKILL');
      return once(child, 'exit');
    };
  });

  afterAll(async () => {
    await end();
    rmSync(directory, { recursive: true });
  });

  it('is seen at each of many looks', async () => {
    for (let look = 0; look < 500; look += 1) {
      const entry = table.entry(pid);
      expect(entry && (await createMarkReader()(entry))).toEqual(MARKER);
    }
  });

  it('makes it a member of its run at each look', async () => {
    const leader = { mark: MARKER.mark, pid: 0, startTicks: table.startTicks(pid) ?? 0 };
    for (let look = 0; look < LOOKS; look += 1) {
      const members = await findTreeMembers(await table.processes(), leader);
      expect(members.map((member) => member.pid)).toContain(pid);
    }
  });

  it('claims it for a daemon that lives, at each look, though it runs the copy', async () => {
    const context = { table, isDaemonAlive: () => true, startTokenOf: () => '' };
    for (let look = 0; look < LOOKS; look += 1) {
      const found = await findLeftovers(context, { executables: [shell], remembered: [] });
      expect(found).toMatchObject([{ pid, claimed: true, mark: MARKER.mark }]);
    }
  });
});

describe('a mark reader', () => {
  it('waits so often in all, and then no more', async () => {
    let looks = 0;
    const endless = {
      isBetweenPrograms: true,
      get marker() {
        looks += 1;
        return undefined;
      },
    };
    const markOf = createMarkReader(3);
    await expect(markOf(endless)).resolves.toBeUndefined();
    expect(looks).toBe(4);
    await expect(markOf(endless)).resolves.toBeUndefined();
    expect(looks).toBe(5);
  });
});

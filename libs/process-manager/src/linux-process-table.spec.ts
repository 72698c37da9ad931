import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';

import { LinuxProcessTable } from './linux-process-table.js';
import { formatRunMarker, parseDaemon, parseRunMarker } from './run-marker.js';
import { createPrivateDirectory } from './testing/index.js';

describe('LinuxProcessTable', () => {
  it('reads a process whose name holds brackets, blanks and a line break', async () => {
    const directory = createPrivateDirectory();
    const file = path.join(directory.path, 'a) R 1\n(b');
    copyFileSync(realpathSync('/bin/sleep'), file);
    const marker = { runId: 'ab'.repeat(16), daemon: '7:8.9.x' };
    const env = { RANCHER_WINS_RUN: formatRunMarker(marker) };
    const child = spawn(file, ['1000'], { detached: true, stdio: 'ignore', env });
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    const table = new LinuxProcessTable();
    const entry = { pid, parentPid: process.pid, groupId: pid, sessionId: pid };
    expect(table.entry(pid)).toMatchObject(entry);
    expect((await table.entries()).get(pid)).toEqual(table.entry(pid));
    expect(table.startTicks(pid)).toBeGreaterThanOrEqual(table.startTicks(process.pid) ?? Infinity);
    expect(table.marker(pid)).toEqual(marker);
    expect(table.executable(pid)).toBe(file);
    rmSync(file);
    expect(table.executable(pid)).toBe(file);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect([table.entry(pid), table.marker(pid), table.executable(pid)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    directory.close();
  });
});

describe('the run marker', () => {
  it.each([
    '',
    'x',
    `${'ab'.repeat(16)}:0:1`,
    `${'ab'.repeat(16)}:7:`,
    `${'AB'.repeat(16)}:7:1`,
    `${'ab'.repeat(16)}:7:1 `,
    `${'ab'.repeat(16)}:7:${'1'.repeat(200)}`,
  ])('is not read from %j, which we never write', (text) => {
    expect(parseRunMarker(text)).toBeUndefined();
  });

  it('names a daemon by PID and start token', () => {
    expect(parseDaemon('7:8.9.x')).toEqual({ pid: 7, startToken: '8.9.x' });
    expect(parseDaemon('garbage').pid).toBe(0);
  });
});

import { formatRunMarker, parseDaemon, parseRunMarker } from './linux-process-entry.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LinuxProcessTable } from './linux-process-table.js';
import { createMarkReader } from './mark-reader.js';

const LINEAGE = '0123456789abcdef';
/** A megabyte in ten variables, because the kernel limits the size of one variable. */
const LARGE = Object.fromEntries(
  Array.from({ length: 10 }, (_, index) => [`LARGE_${index}`, 'x'.repeat(100_000)]),
);

describe('LinuxProcessTable', () => {
  it('reads a process whose name holds brackets, blanks and a line break', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'linux-host-'));
    const file = path.join(directory, 'a) R 1\n(b');
    copyFileSync(realpathSync('/bin/sleep'), file);
    const marker = { mark: 'ab'.repeat(16), lineage: 'cd'.repeat(8), daemon: '7:8.9.x' };
    const env = { RANCHER_WINS_RUN: formatRunMarker(marker) };
    const child = spawn(file, ['1000'], { detached: true, stdio: 'ignore', env });
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    const table = new LinuxProcessTable();
    const facts = { pid, parentPid: process.pid, groupId: pid, sessionId: pid };
    expect(table.entry(pid)).toMatchObject(facts);
    const entry = (await table.processes()).get(pid);
    expect(entry).toMatchObject(facts);
    expect(table.startTicks(pid)).toBeGreaterThanOrEqual(table.startTicks(process.pid) ?? Infinity);
    expect(entry && (await createMarkReader()(entry))).toEqual(marker);
    expect(entry?.executable).toBe(file);
    rmSync(file);
    expect(table.entry(pid)?.executable).toBe(file);
    const late = table.entry(pid);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect([table.entry(pid), late?.marker, late?.executable]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    rmSync(directory, { recursive: true });
  });

  it.each([
    ['first', (mark: string) => ({ RANCHER_WINS_RUN: mark, ...LARGE })],
    [
      'last, after a name and a value that look like it',
      (mark: string) => ({
        XRANCHER_WINS_RUN: 'x',
        X: 'RANCHER_WINS_RUN=x',
        ...LARGE,
        RANCHER_WINS_RUN: mark,
      }),
    ],
  ])('finds a mark that comes %s in a large environment', async (_where, environmentWith) => {
    const marker = { mark: 'ab'.repeat(16), lineage: LINEAGE, daemon: '7:8.9.x' };
    const env = environmentWith(formatRunMarker(marker));
    const child = spawn('/bin/sleep', ['1000'], { stdio: 'ignore', env });
    await once(child, 'spawn');
    const entry = new LinuxProcessTable().entry(child.pid ?? 0);
    expect(entry && (await createMarkReader()(entry))).toEqual(marker);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('shows each caller a moment after its call, though calls share scans', async () => {
    const table = new LinuxProcessTable();
    const first = table.processes();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1e9)'], { stdio: 'ignore' });
    await once(child, 'spawn');
    const [second, third] = [table.processes(), table.processes()];
    await first;
    expect((await second).has(child.pid ?? 0)).toBe(true);
    expect(await third).toBe(await second);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await table.processes()).has(child.pid ?? 0)).toBe(false);
  });

  it('reads an environment once for each program that a process runs', async () => {
    const marker = { mark: 'ab'.repeat(16), lineage: LINEAGE, daemon: '7:8.9.x' };
    const env = { RANCHER_WINS_RUN: formatRunMarker(marker) };
    // The program writes its title over its environment; then it executes a program without the mark.
    const script =
      '$| = 1; print "up"; <STDIN>; $0 = "x" x 4096; print "named"; <STDIN>; delete $ENV{RANCHER_WINS_RUN}; exec "echo changed; exec sleep 1000"';
    const child = spawn('/usr/bin/perl', ['-e', script], { stdio: 'pipe', env });
    // Wait until perl runs: an earlier scan would record where the environment lay before `execve`.
    await once(child.stdout, 'data');
    const markIn = async (table: LinuxProcessTable) => {
      const entry = (await table.processes()).get(child.pid ?? 0);
      return entry && (await createMarkReader()(entry));
    };
    const table = new LinuxProcessTable();
    const answered = async (line: string) => {
      child.stdin.write(`${line}\n`);
      await once(child.stdout, 'data');
    };
    expect(await markIn(table)).toEqual(marker);
    await answered('take a title');
    expect([await markIn(table), await markIn(new LinuxProcessTable())]).toEqual([
      marker,
      undefined,
    ]);
    await answered('change the program');
    expect(await markIn(table)).toBeUndefined();
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});

describe('the run marker', () => {
  it.each([
    '',
    'x',
    `${'ab'.repeat(16)}:7:1`,
    `${'ab'.repeat(16)}:${LINEAGE}:0:1`,
    `${'ab'.repeat(16)}:${LINEAGE}:7:`,
    `${'AB'.repeat(16)}:${LINEAGE}:7:1`,
    `${'ab'.repeat(16)}:${LINEAGE}:7:1 `,
    `${'ab'.repeat(16)}:${LINEAGE}:7:${'1'.repeat(200)}`,
  ])('is not read from %j, which we never write', (text) => {
    expect(parseRunMarker(text)).toBeUndefined();
  });

  it('names a daemon by PID and start token', () => {
    expect(parseDaemon('7:8.9.x')).toEqual({ pid: 7, startToken: '8.9.x' });
    expect(parseDaemon('garbage').pid).toBe(0);
  });
});

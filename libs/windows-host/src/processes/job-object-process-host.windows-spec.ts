import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, it } from 'node:test';
import { canonicalPath, type HostCommand, type HostProcess } from '@wins/base';
import { jobObjectProcessHost } from './job-object-process-host.js';
import { startOutsideJob } from './windows-process-start.js';
import { openOutputPipe } from './windows-process-output.js';
import { endProcess, isRunning, ownIdentity } from './windows-process.js';

const FOREVER = 'setInterval(()=>{},1e6)';
/** This file is also the program of a second daemon and of the upgrade helper. */
const [role] = process.argv.slice(2);
const host = jobObjectProcessHost();
const node = process.execPath;

function command(args: readonly string[], overrides: Partial<HostCommand> = {}) {
  const run = { mark: 'ab'.repeat(16), lineage: 'cd'.repeat(8) };
  const env = { WINS_ROOT: process.env['WINS_ROOT'] ?? '' };
  return {
    ...run,
    file: node,
    argv0: node,
    args,
    env,
    directory: path.dirname(node),
    ...overrides,
  };
}

async function firstLine(process: HostProcess): Promise<string> {
  const [line] = (await once(createInterface(process.stdout), 'line')) as [string];
  return line;
}

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((look) => setTimeout(look, 5));
  }
}

if (role === 'daemon') {
  void host.start(command(['-e', FOREVER])).then(({ pid }) => process.stdout.write(`${pid}\n`));
} else if (role === 'helper') {
  // Runs another program, and then tries to leave its own run, as an upgrade does.
  spawnSync(node, ['-e', '0']);
  let left: string;
  try {
    left = JSON.stringify(startOutsideJob(command(['-e', FOREVER])));
  } catch (error) {
    left = (error as Error).message;
  }
  process.stdout.write(`${left}\n`);
  setInterval(() => undefined, 1e6);
} else {
  describe('the process host of Windows', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'wins-'));
    after(() => rmSync(directory, { recursive: true }));

    it('ends what it started when it is killed itself', async () => {
      const daemon = spawn(node, [__filename, 'daemon'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = (await once(createInterface(daemon.stdout), 'line')) as [string];
      assert.doesNotThrow(() => process.kill(Number(line), 0));
      daemon.kill('SIGKILL');
      await untilGone(Number(line));
    });

    it('lets a program leave its run only if it may', async () => {
      for (const mayBreakAway of [false, true]) {
        const run = await host.start(command([__filename, 'helper'], { mayBreakAway }));
        const line = await firstLine(run);
        run.close();
        await run.exited;
        if (mayBreakAway) {
          const left = JSON.parse(line) as { pid: number; created: string };
          assert.equal(isRunning(left), true);
          endProcess(left);
          await untilGone(left.pid);
        } else assert.match(line, /ERROR_ACCESS_DENIED|it started inside the job/);
      }
    });

    it('knows whether a daemon lives by more than its number', () => {
      assert.equal(host.daemon, `${process.pid}:${ownIdentity().created}`);
      assert.equal(host.isDaemonAlive(host.daemon), true);
      assert.equal(host.isDaemonAlive(`${process.pid}:1`), false);
      for (const odd of ['', ':', `${process.pid}`, `0:0`, `-1:1`, `1e3:1`, `${process.pid}:`]) {
        assert.equal(host.isDaemonAlive(odd), false, odd);
      }
    });

    it('finds and ends what runs a verified copy, and what is remembered by number and time', async (t) => {
      const copy = path.join(directory, 'rancher-wins-node.exe');
      copyFileSync(node, copy);
      const stray = spawn(copy, ['-e', FOREVER], { stdio: 'ignore', detached: true });
      const remembered = spawn(node, ['-e', FOREVER], { stdio: 'ignore', detached: true });
      t.after(() => [stray, remembered].map((child) => child.kill('SIGKILL')));
      const ended = [once(stray, 'exit'), once(remembered, 'exit')];
      await Promise.all([once(stray, 'spawn'), once(remembered, 'spawn')]);
      const run = await host.start(command(['-e', FOREVER], { file: copy }));
      const own = await host.start(command(['-e', FOREVER]));
      t.after(() => [run, own].map((child) => child.close()));
      const { startToken } = own;
      const search = {
        executables: [copy.toUpperCase()],
        remembered: [
          { mark: 'mine', pid: own.pid, startToken },
          { mark: 'reused', pid: remembered.pid ?? 0, startToken },
        ],
      };
      const found = await host.findLeftovers(search);
      const facts = found.map(({ pid, evidence, mark, claimed }) => [pid, evidence, mark, claimed]);
      assert.deepEqual(
        new Set(facts),
        new Set([
          [stray.pid, 'executable', undefined, false],
          [run.pid, 'executable', undefined, true],
          [own.pid, 'record', 'mine', false],
        ]),
      );
      for (const leftover of found) {
        assert.equal(await leftover.isGone(), false);
        await leftover.terminate('force');
      }
      await Promise.all([ended[0], run.exited, own.exited]);
      for (const leftover of found) assert.equal(await leftover.isGone(), true);
      assert.deepEqual(await host.findLeftovers(search), []);
    });

    it('tells who is to blame for what does not start', async () => {
      const told: unknown[] = [];
      const failing = jobObjectProcessHost({
        failure: (code, message, { path: file, cause }) => {
          told.push([code, file]);
          return new Error(message, { cause });
        },
      });
      const text = path.join(directory, 'text.exe');
      writeFileSync(text, 'no program');
      const absent = path.join(directory, 'absent.exe');
      for (const [expected, wrong] of [
        ['spawnFailed', { file: absent }],
        ['spawnFailed', { file: text }],
        ['spawnFailed', { directory: path.join(directory, 'nowhere') }],
        ['invalidArgument', { args: ['a'.repeat(32_767)] }],
        ['invalidArgument', { env: { A: '\0' } }],
        ['invalidArgument', { file: path.join(directory, 'x.BAT') }],
        ['invalidArgument', { file: path.join(directory, 'x.cmd. .') }],
      ] as const) {
        await assert.rejects(failing.start(command([], wrong)), Error);
        assert.deepEqual(told.pop(), [expected, 'file' in wrong ? wrong.file : node]);
      }
      await assert.rejects(
        failing.assertTrustedFile(canonicalPath(absent)),
        /ERROR_FILE_NOT_FOUND/,
      );
      assert.deepEqual(told.pop(), ['notFound', absent]);
      await assert.rejects(failing.assertTrustedFile(canonicalPath(directory)), /it is a folder/);
      assert.deepEqual(told.pop(), ['pathNotTrusted', directory]);
      await assert.rejects(failing.holdFile(absent));
      assert.deepEqual(told.pop(), ['stagingFailed', absent]);
      assert.throws(() => failing.ensurePrivateDirectory(text));
      assert.deepEqual(told.pop(), ['stateUnavailable', text]);
    });

    it('gives a program its three handles and no other', async () => {
      // `childEnd` is inheritable and open while the program starts. If the program inherited it, `stream` would not end.
      const { stream, childEnd } = openOutputPipe();
      const run = await host.start(command(['-e', `console.log(1);${FOREVER}`]));
      await firstLine(run);
      childEnd.close();
      await once(stream.resume(), 'end');
      assert.equal(await run.isGone(), false);
      run.close();
      await run.exited;
    });
  });
}

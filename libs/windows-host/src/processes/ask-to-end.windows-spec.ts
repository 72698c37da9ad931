import type { StopRequest } from '@wins/base';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { isWine } from '../testing/is-wine.js';
import { systemLibrary, systemPath } from '../win32/calls/system-library.js';
import { JobObjectProcess } from './job-object-process.js';
import { listenToEvent } from './named-event.js';
import { startOutsideJobWithOutput } from './windows-process-start.js';

const ROLE = 'wait-for-the-event';
const APART = 'ask-from-apart';
const node = process.execPath;
const [, , role, event = ''] = process.argv;

function waitForTheEvent(): void {
  const alive = setInterval(() => undefined, 1e6);
  const listener = listenToEvent({
    name: event,
    sddl: 'D:P(A;;GA;;;BA)(A;;GA;;;SY)',
    signalled: () => {
      clearInterval(alive);
      process.exitCode = 42;
      void listener.close();
      return Promise.resolve();
    },
    failed: (error) => {
      throw error;
    },
  });
  process.stdout.write('ready\n');
}

function start(args: readonly string[], stop: StopRequest, file = node): JobObjectProcess {
  const env = { WINS_ROOT: process.env['WINS_ROOT'] ?? '' };
  const program = { file, argv0: file, args, env, directory: path.dirname(file) };
  return JobObjectProcess.start(program, { mayBreakAway: false, stop });
}

async function ready({ stdout }: JobObjectProcess): Promise<void> {
  const [line] = (await once(stdout, 'data')) as [Buffer];
  assert.match(String(line), /ready/);
}

const ON_BREAK = `process.on('SIGBREAK', () => process.exit(42)); console.log('ready'); setInterval(() => {}, 1e6);`;

function theSuite(): void {
  describe('a program that is asked to end', () => {
    it('hears Ctrl-Break in its own console, and ends in its own way', async () => {
      const run = start(['-e', ON_BREAK], { signal: 'CTRL_BREAK' });
      await ready(run);
      await run.terminate('graceful');
      assert.deepEqual(await run.exited, { code: 42 });
      run.close();
    });

    it('hears it from a process that outlives others, which has no console', async () => {
      const env = { WINS_ROOT: process.env['WINS_ROOT'] ?? '' };
      const program = { file: node, argv0: node, args: [__filename, APART], env };
      const { output } = startOutsideJobWithOutput({ ...program, directory: path.dirname(node) });
      assert.equal(await text(output), '42');
    });

    it('gets the request in each process of its job, and nowhere else', async () => {
      const child = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(ON_BREAK)}],
        { stdio: ['ignore', 'inherit', 'ignore'] }).on('exit', (code) => process.exit(code + 1)); process.on('SIGBREAK', () => {})`;
      const other = start(['-e', ON_BREAK], { signal: 'CTRL_BREAK' });
      await ready(other);
      const run = start(['-e', child], { signal: 'CTRL_BREAK' });
      await ready(run);
      await run.terminate('graceful');
      assert.deepEqual(await run.exited, { code: 43 });
      assert.equal(await other.isGone(), false);
      run.close();
      await other.terminate('force');
      assert.deepEqual(await other.exited, { code: 1 });
      other.close();
    });

    it('ends by the event that it waits for', async () => {
      const name = `Local\\wins-${randomUUID()}`;
      const run = start([__filename, ROLE, name], { event: name });
      await ready(run);
      await run.terminate('graceful');
      assert.deepEqual(await run.exited, { code: 42 });
      run.close();
    });

    // Without a screen, Wine opens the window but ends the program soon after.
    const hasScreen = !isWine() || process.env['DISPLAY'] !== undefined;
    it('ends when its window is closed', { skip: !hasScreen }, async () => {
      const { FindWindowW } = systemLibrary('user32.dll', 'Windows', [
        'intptr_t FindWindowW(str16 class_, str16 title)',
      ]);
      const run = start([], { signal: 'WM_CLOSE' }, systemPath('notepad.exe'));
      while (FindWindowW('Notepad', null) === 0) {
        assert.equal(await run.isGone(), false);
        await new Promise((look) => setTimeout(look, 5));
      }
      await run.terminate('graceful');
      assert.deepEqual(await run.exited, { code: 0 });
      run.close();
    });

    for (const [what, stop] of [
      ['nothing says how', {}],
      ['it has no window', { signal: 'WM_CLOSE' }],
      ['nobody made the event', { event: `Local\\wins-${randomUUID()}` }],
    ] as const)
      it(`is ended at once when ${what}`, async () => {
        const run = start(['-e', ON_BREAK], stop);
        await ready(run);
        await run.terminate('graceful');
        assert.deepEqual(await run.exited, { code: 1 });
        run.close();
      });
  });
}

/** Starts a run and stops it by Ctrl-Break, in a process without a console. A keeper has no console either. */
async function askDetached(): Promise<void> {
  const run = start(['-e', ON_BREAK], { signal: 'CTRL_BREAK' });
  await ready(run);
  await run.terminate('graceful');
  const { code } = await run.exited;
  run.close();
  process.stdout.write(String(code));
}

if (role === ROLE) waitForTheEvent();
else if (role === APART) void askDetached();
else theSuite();

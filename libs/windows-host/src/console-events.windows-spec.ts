import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { listenToConsole } from './console-events.js';
import { addressOfFunction, threads } from './win32/threads.js';

const ROLE = 'be-at-the-console';

/** Lets the system tell this process of an event, as it does itself: in a new thread. */
function cause(event: number): void {
  const { CreateThread } = threads();
  const routine = addressOfFunction('kernelbase.dll', 'CtrlRoutine');
  assert.ok(routine);
  const parameter = event === 0 ? null : BigInt(event);
  assert.notEqual(CreateThread(null, 0, routine, parameter, 0, [0]), 0);
}

/** Listens, hears, takes its time, and ends with an exit code of its own. */
function beAtTheConsole(event: number): void {
  const keepAlive = setInterval(() => undefined, 1000);
  const events = listenToConsole((heard) => {
    process.stdout.write(`${heard}\n`);
    setTimeout(() => {
      events.close();
      events.close();
      clearInterval(keepAlive);
      process.exitCode = 42;
    }, 300);
  });
  cause(event);
}

function theSuite(): void {
  describe('at the console, a program', () => {
    for (const [number, name] of [
      [0, 'interrupt'],
      [1, 'break'],
      [2, 'close'],
      [5, 'logoff'],
      [6, 'shutdown'],
    ] as const)
      it(`hears ${name}, and has its time to end`, async () => {
        const child = spawn(process.execPath, [__filename, ROLE, String(number)], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let output = '';
        child.stdout.on('data', (chunk) => (output += String(chunk)));
        const [code] = (await once(child, 'close')) as [number];
        assert.equal(output, `${name}\n`);
        assert.equal(code, 42);
      });
  });
}

const at = process.argv.indexOf(ROLE);
if (at === -1) theSuite();
else beAtTheConsole(Number(process.argv[at + 1]));

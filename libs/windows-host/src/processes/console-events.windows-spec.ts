import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { listenToConsole } from './console-events.js';
import { addressOfFunction, systemLibrary } from '../win32/calls/system-library.js';
import { kernel32 } from '../win32/kernel32.js';

const ROLE = 'be-at-the-console';
const CLOSE_MEANWHILE = 'close-meanwhile';
const BREAK = 1;

/** Causes the event in a new thread, as the system does. */
function cause(event: number): void {
  const { CreateThread } = kernel32;
  const routine = addressOfFunction('kernelbase.dll', 'CtrlRoutine');
  const parameter = event === 0 ? null : BigInt(event);
  assert.notEqual(CreateThread(null, 0, routine, parameter, 0, [0]), 0);
}

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

/** Stops listening while the system delivers an event. */
function closeMeanwhile(): void {
  const { GetErrorMode: getErrorMode, SetErrorMode: setErrorMode } = systemLibrary(
    'kernel32.dll',
    'Windows',
    ['uint32_t GetErrorMode()', 'uint32_t SetErrorMode(uint32_t mode)'],
  );
  const events = listenToConsole((heard) => process.stdout.write(`${heard}\n`));
  // Makes the system function SetErrorMode the first console handler. The system calls it with the number of the event,
  // and GetErrorMode then returns that number. SetErrorMode returns the previous mode, 0, which means "not handled".
  setErrorMode(0);
  const trace = addressOfFunction('kernel32.dll', 'SetErrorMode');
  assert.notEqual(kernel32.SetConsoleCtrlHandler(trace, 1), 0);
  cause(BREAK);
  while (getErrorMode() !== BREAK);
  events.close();
  process.exitCode = 42;
}

async function runAs(...role: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [__filename, ...role], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
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
        const { code, output } = await runAs(ROLE, String(number));
        assert.equal(output, `${name}\n`);
        assert.equal(code, 42);
      });

    it('may stop to listen while the system is about to tell it of an event', async () => {
      assert.deepEqual(await runAs(CLOSE_MEANWHILE), { code: 42, output: '' });
    });
  });
}

const at = process.argv.indexOf(ROLE);
if (process.argv.includes(CLOSE_MEANWHILE)) closeMeanwhile();
else if (at === -1) theSuite();
else beAtTheConsole(Number(process.argv[at + 1]));

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { consoleEvents } from './console-events.js';
import { consoleCalls } from './win32/console.js';
import type { Handle } from './win32/kernel32.js';
import { loadSystemLibrary } from './win32/system-library.js';

/** Set in the processes that are told of an event: there is one for each test, because it is the last event of a process. */
const TOLD = process.env['WINS_CONSOLE_EVENT'];
const IS_CLOSED = process.env['WINS_CONSOLE_CLOSED'] !== undefined;

/** Does as the system does to tell this process of an event: a thread of its own runs the handlers. */
function tell(event: number): void {
  const { bind } = loadSystemLibrary('kernel32.dll');
  const createThread = bind<
    (a: null, b: number, start: bigint | null, event: number, c: number, d: null) => Handle
  >(
    'intptr_t __stdcall CreateThread(void *a, size_t b, void *start, intptr_t event, uint32_t c, void *d)',
  );
  const { GetModuleHandleW, GetProcAddress } = consoleCalls();
  const routine = GetProcAddress(GetModuleHandleW('kernelbase.dll'), 'CtrlRoutine');
  assert.notEqual(createThread(null, 0, routine, event, 0, null), 0);
}

function beTold(event: number): void {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const limit = setTimeout(() => process.exit(9), 60_000);
  const events = consoleEvents({
    on: (name) => {
      say(name);
      // The event loop goes on, and the process, for what is left to do.
      setTimeout(() => {
        events.close();
        say('drained');
        clearTimeout(limit);
        process.exitCode = 40;
      }, 100);
    },
  });
  process.on('SIGINT', () => {
    say('SIGINT');
    process.exit(41);
  });
  if (IS_CLOSED) {
    events.close();
    events.close();
  }
  tell(event);
}

async function told(
  event: number,
  env: Record<string, string> = {},
): Promise<readonly [output: string, code: unknown]> {
  const child = spawn(process.execPath, [__filename], {
    env: { ...process.env, WINS_CONSOLE_EVENT: String(event), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[code: number | null]>;
  const [output, [code]] = await Promise.all([text(child.stdout), exited]);
  return [output, code];
}

if (TOLD !== undefined) beTold(Number(TOLD));
else
  describe('the events of the console', () => {
    for (const [number, name] of [
      [2, 'close'],
      [5, 'logoff'],
      [6, 'shutdown'],
    ] as const)
      it(`of kind ${number} are told as ${name}, and the process has time for what is left to do`, async () => {
        assert.deepEqual(await told(number), [`${name}\ndrained\n`, 40]);
      });

    it('leave Ctrl-C to Node', async () => {
      assert.deepEqual(await told(0), ['SIGINT\n', 41]);
    });

    it('are not told after close, and end the process as if nobody had listened', async () => {
      const [output, code] = await told(6, { WINS_CONSOLE_CLOSED: 'yes' });
      assert.equal(output, '');
      assert.notEqual(code, 40);
      assert.notEqual(code, 9);
    });
  });

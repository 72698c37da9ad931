import { consoleHandlerCode } from './console-handler-code.js';
import {
  consoleCalls,
  MEM_COMMIT_AND_RESERVE,
  PAGE_EXECUTE_READ,
  PAGE_READWRITE,
  type Address,
} from './win32/console.js';
import { check } from './win32/kernel32.js';
import { WindowsError } from './windows-error.js';

/** Why the process is to end: its console is closed, its user logs off, or its container or host shuts down. */
export type ConsoleEvent = 'close' | 'logoff' | 'shutdown';

/** What {@link consoleEvents} takes. */
export interface ConsoleEventsOptions {
  /** Is told of each event, in a turn of the event loop of its own. */
  readonly on: (event: ConsoleEvent) => void;
}

/** Listening to the console. */
export interface ConsoleEvents {
  /** Stops listening: a later event ends the process at once, as if nobody had listened. Idempotent. */
  close(): void;
}

const EVENTS: ReadonlyMap<number, ConsoleEvent> = new Map([
  [2, 'close'],
  [5, 'logoff'],
  [6, 'shutdown'],
]);

/**
 * Tells of the events that Node does not, or not in time; Ctrl-C and Ctrl-Break stay SIGINT and SIGBREAK, and SIGHUP comes no more.
 * `docker stop` of a Windows container is a `shutdown`.
 *
 * The process ends when the handler of such an event returns, or when the system's patience is over, about 5 s after the event.
 * So the handler never returns, and whoever is told ends the process when it is done. It does not hold the event loop.
 *
 * The handler is a few bytes of machine code, because one in JavaScript would have to return before JavaScript could do anything
 * else. It stays for the rest of the process, with the function that it calls: a thread of the system may be on its way through
 * them, and while one rests in them the system takes out no handler, but waits for it.
 *
 * @throws WindowsError `unavailable` on another processor than x64.
 */
export function consoleEvents({ on }: ConsoleEventsOptions): ConsoleEvents {
  const { registerCallback, SetConsoleCtrlHandler } = consoleCalls();
  if (process.arch !== 'x64') {
    const message = `listened to the console: this is ${process.arch}; it is there on x64 only`;
    throw new WindowsError('unavailable', message);
  }
  let isOpen = true;
  const notify = registerCallback((number) => {
    const event = EVENTS.get(number);
    if (!isOpen || event === undefined) return 0;
    // The thread of the system waits until this function has returned.
    setImmediate(on, event);
    return 1;
  });
  const handler = executable(consoleHandlerCode(notify, sleepFunction()));
  const isSet = SetConsoleCtrlHandler(handler, 1) !== 0;
  check(isSet, 'SetConsoleCtrlHandler', 'listened to the console');
  return { close: () => void (isOpen = false) };
}

/** Memory that was writable until the code was in it, and cannot be written any more. */
function executable(code: Buffer): Address {
  const { RtlMoveMemory, VirtualAlloc, VirtualProtect } = consoleCalls();
  const tried = 'placed the handler of the console';
  const memory = VirtualAlloc(null, code.length, MEM_COMMIT_AND_RESERVE, PAGE_READWRITE);
  check(memory !== null, 'VirtualAlloc', tried);
  const address = memory ?? 0n;
  RtlMoveMemory(address, code, code.length);
  const isProtected = VirtualProtect(address, code.length, PAGE_EXECUTE_READ, [0]) !== 0;
  check(isProtected, 'VirtualProtect', tried);
  return address;
}

function sleepFunction(): Address {
  const { GetModuleHandleW, GetProcAddress } = consoleCalls();
  const found = GetProcAddress(GetModuleHandleW('kernel32.dll'), 'Sleep');
  check(found !== null, 'GetProcAddress', 'looked for Sleep in kernel32.dll');
  return found ?? 0n;
}

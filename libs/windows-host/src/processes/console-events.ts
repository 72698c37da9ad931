import { reporter } from '@wins/base';
import { call, inBackground } from '../win32/calls/call.js';
import { addressOfFunction, lazily, loadKoffi } from '../win32/calls/system-library.js';
import { kernel32 } from '../win32/kernel32.js';

/** Event of the console, session or container of this process. */
export type ConsoleEvent = 'interrupt' | 'break' | 'close' | 'logoff' | 'shutdown';

const EVENTS: Readonly<Partial<Record<number, ConsoleEvent>>> = {
  0: 'interrupt',
  1: 'break',
  2: 'close',
  5: 'logoff',
  6: 'shutdown',
};

/** Events after which the system ends the process once all handlers have returned. */
const FINAL: ReadonlySet<ConsoleEvent> = new Set(['close', 'logoff', 'shutdown']);

const HANDLED = 1;
const NOT_HANDLED = 0;

// https://learn.microsoft.com/windows/console/handlerroutine
const handlerRoutine = lazily(() => {
  const koffi = loadKoffi();
  return koffi.pointer(koffi.proto('int', ['uint32_t']));
});

/** Listens to a console. The caller closes the listener. */
export interface ConsoleEvents extends Disposable {
  /** Hands the events back to Node, unless the process is already ending. Idempotent. */
  close(): void;
}

/**
 * Listens to events that end a console program: Ctrl-C, Ctrl-Break, a closed console, a log-off, and a shutdown. The
 * programs of a Windows container get the shutdown event when the container is stopped. Node does not report a log-off
 * or a shutdown.
 *
 * After a close, log-off or shutdown, the process must end by itself. Because of the listener, the system waits 5 s,
 * or longer in a container, before it kills the process. Programs that load user32, such as Node, may miss a log-off
 * or shutdown.
 *
 * @throws WindowsError `unavailable`.
 */
export function listenToConsole(onEvent: (event: ConsoleEvent) => unknown): ConsoleEvents {
  const { SetConsoleCtrlHandler } = kernel32;
  const koffi = loadKoffi();
  // The system calls the newest handler, `tell`, first. `tell` leaves a final event to the older handler,
  // `hold`. `hold` is WaitMessage, which never returns in a thread without windows. Because `hold` does not return, the
  // system waits 5 s or longer before it kills the process.
  // https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-waitmessage
  const hold = addressOfFunction('user32.dll', 'WaitMessage');
  const report = reporter(onEvent);
  let isFinal = false;
  let isOpen = true;
  const tell = koffi.register((number: number) => {
    const event = EVENTS[number];
    if (event === undefined) return NOT_HANDLED;
    // After `close`, `hold` may still be registered. Stop the event here, because `hold` would never return.
    if (!isOpen) return HANDLED;
    setImmediate(report, event);
    isFinal ||= FINAL.has(event);
    return FINAL.has(event) ? NOT_HANDLED : HANDLED;
  }, handlerRoutine());
  for (const handler of [hold, tell])
    call('cannot listen to the console', SetConsoleCtrlHandler, handler, 1);
  // The system locks the list of handlers while it calls `tell`. `tell` runs on this thread, so waiting for the lock on
  // this thread would deadlock. Remove `hold` first: without `tell`, an event would reach `hold`, which never returns.
  const forget = async (): Promise<void> => {
    await inBackground(SetConsoleCtrlHandler, hold, 0);
    await inBackground(SetConsoleCtrlHandler, tell, 0);
    koffi.unregister(tell);
  };
  const close = (): void => {
    // During a final event, `hold` keeps the list of handlers locked, so `forget` would hang.
    if (!isOpen || isFinal) return;
    isOpen = false;
    void forget();
  };
  return { close, [Symbol.dispose]: close };
}

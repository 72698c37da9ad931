import { check, INVALID_HANDLE_VALUE, type Handle } from '../win32/kernel32.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import { services } from '../win32/services.js';
import { addressOfFunction, threads } from '../win32/calls/threads.js';
import { WindowsError } from '../windows-error.js';

/** What the service control manager asks of a service. */
export interface DispatcherEvents {
  /** Called once, when the service must begin, and only if the service control manager has started this process. */
  readonly onStart: (service: DispatchedService) => void;
  /** @returns What the service control manager is answered: 0, or a Win32 error code. */
  readonly onControl: (control: number) => number;
}

/** Where a service tells how it does. */
export interface DispatchedService {
  /** The name of the service that this process was started as; it may have been registered under another name. */
  readonly name: string;
  /**
   * @param status - A SERVICE_STATUS.
   * @throws WindowsError
   */
  readonly report: (status: Buffer) => void;
}

const INFINITE = 0xffffffff;
const WT_EXECUTEONLYONCE = 0x8;

/**
 * Connects this process to the service control manager.
 *
 * The call that does it returns when the service has stopped, so it has a thread of its own. What it calls back runs on the
 * event loop, on which a service must not block for that reason.
 *
 * @returns When the service has stopped, or at once if the service control manager has not started this process.
 * @throws WindowsError `unavailable` on other systems.
 */
export async function dispatchService(name: string, events: DispatcherEvents): Promise<void> {
  const { koffi } = threads();
  const { serviceMain, handlerEx } = services();
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const handler = koffi.register((control: number) => events.onControl(control), handlerEx());
  const main = koffi.register((count: number, words: bigint) => {
    try {
      // A process with one service is any service that runs it; the first word says which.
      const actual = count > 0 ? (koffi.decode(words, 'str16') as string) : name;
      events.onStart(registerHandler(actual, handler));
    } catch (error) {
      fail(error);
    }
  }, serviceMain());
  const table = dispatchTable(name, main);
  const thread = new OwnedHandle(startDispatcher(table, name));
  try {
    // After a failure the thread lives on, and so do the callbacks that it may call.
    await Promise.race([ended(thread.value, name), failed]);
    koffi.unregister(main);
    koffi.unregister(handler);
  } finally {
    thread.close();
    // It must not be garbage-collected before this point.
    table.fill(0);
  }
}

function registerHandler(name: string, handler: bigint): DispatchedService {
  const { RegisterServiceCtrlHandlerExW, SetServiceStatus } = services();
  const service = RegisterServiceCtrlHandlerExW(name, handler, null);
  check(service !== 0, 'RegisterServiceCtrlHandlerExW', `served as the service ${name}`);
  return {
    name,
    report: (status) => {
      const isTaken = SetServiceStatus(service, status) !== 0;
      check(isTaken, 'SetServiceStatus', `reported the status of the service ${name}`);
    },
  };
}

/** Two SERVICE_TABLE_ENTRYW, ours and the empty one that ends the table, and the name. */
function dispatchTable(name: string, main: bigint): Buffer {
  const { addressOf } = services();
  const entries = 32;
  const memory = Buffer.concat([Buffer.alloc(entries), Buffer.from(`${name}\0`, 'utf16le')]);
  memory.writeBigUInt64LE(addressOf(memory) + BigInt(entries), 0);
  memory.writeBigUInt64LE(main, 8);
  return memory;
}

function startDispatcher(table: Buffer, name: string): Handle {
  const { CreateThread } = threads();
  const tried = `connected to the service control manager as ${name}`;
  // A thread takes one pointer, and so does this function.
  const start = addressOfFunction('advapi32.dll', 'StartServiceCtrlDispatcherW');
  if (start === undefined)
    throw new WindowsError('unavailable', `${tried}: there is no StartServiceCtrlDispatcherW`);
  const thread = CreateThread(null, 0, start, table, 0, [0]);
  check(thread !== 0, 'CreateThread', tried);
  return thread;
}

/** Resolves when a thread has ended. The system waits for it, not a thread of Node's. */
async function ended(thread: Handle, name: string): Promise<void> {
  const { koffi, waitCallback, RegisterWaitForSingleObject, UnregisterWaitEx } = threads();
  // A callback from outside does not keep the event loop alive.
  const keepAlive = setInterval(() => undefined, 2 ** 30);
  let callback: bigint | undefined;
  const wait: [Handle] = [0];
  try {
    await new Promise<void>((resolve) => {
      callback = koffi.register(() => setImmediate(resolve), waitCallback());
      const flags = WT_EXECUTEONLYONCE;
      const isSet =
        RegisterWaitForSingleObject(wait, thread, callback, null, INFINITE, flags) !== 0;
      const tried = `waited for the end of the service ${name}`;
      check(isSet, 'RegisterWaitForSingleObject', tried);
    });
  } finally {
    // Waits until the callback has returned: then the system no longer has its address.
    if (wait[0] !== 0) UnregisterWaitEx(wait[0], INVALID_HANDLE_VALUE);
    if (callback !== undefined) koffi.unregister(callback);
    clearInterval(keepAlive);
  }
}

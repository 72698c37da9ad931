import { programNameOf } from '../processes/windows-process.js';
import {
  readControl,
  SERVICE_FAILED,
  ServiceLifecycle,
  serviceStatusOf,
  type ServiceStopReason,
} from './service-lifecycle.js';
import { advapi32 } from '../win32/advapi32.js';
import { call, OwnedHandle } from '../win32/calls/call.js';
import { signalledOnce } from '../win32/calls/event-waits.js';
import { addressOfFunction, lazily, loadKoffi } from '../win32/calls/system-library.js';
import { kernel32 } from '../win32/kernel32.js';
import { SERVICE_TABLE_ENTRYW } from '../win32/structures.js';

/** How long a start may take; then it counts as ended, with exit code 1. */
const START_LIMIT_MS = 120_000;

/** A service, for the program that is one. */
export interface RunningService {
  /** Name by which the service control manager calls it, which may differ from the usual one. */
  readonly name: string;
  /** Reports to the service control manager that the service runs. */
  ready(): void;
  /** Resolves when it is asked to stop; the first reason counts. It may be so before it is ready. */
  readonly stopRequested: Promise<ServiceStopReason>;
}

/** How a program is a service. */
export interface ServiceOptions {
  /** Its usual name; used until the service control manager has given the real one. */
  readonly name: string;
  /**
   * Body of the service. It calls `ready`, and returns its exit code when it is done: 0, or one that triggers the
   * failure actions. It must not throw; if it does, the exit code is 1.
   */
  readonly run: (service: RunningService) => Promise<number>;
  /** How long it may take to stop; then it counts as ended, with exit code 1. Default: 40,000. */
  readonly stopLimitMs?: number;
  /** Called when the service control manager rejects a report. */
  readonly onReportFailed?: (error: unknown) => void;
}

/**
 * Runs a program as a service if the service control manager started it, which this detects without a flag. Queries the
 * service control manager only when it may be the parent process, because the answer may otherwise take as long as the
 * start of some other service.
 *
 * @returns The exit code, already reported to the service control manager and meant for the process, which should end now; or
 *   `undefined` when this is no service, and `run` was not called.
 * @throws WindowsError `unavailable` on other systems.
 */
export async function runAsService(options: ServiceOptions): Promise<number | undefined> {
  const { name, run, stopLimitMs = 40_000 } = options;
  // The system tells the name of every process, also of those that may not be asked.
  if (programNameOf(process.ppid)?.toLowerCase() !== 'services.exe') return undefined;
  let request: (reason: ServiceStopReason) => void = () => undefined;
  const stopRequested = new Promise<ServiceStopReason>((resolve) => {
    request = resolve;
  });
  let lifecycle: ServiceLifecycle | undefined;

  const start = (service: DispatchedService): void => {
    const begun = new ServiceLifecycle((phase) => {
      try {
        service.report(serviceStatusOf(phase));
      } catch (error) {
        options.onReportFailed?.(error);
      }
    }, START_LIMIT_MS);
    lifecycle = begun;
    run({ name: service.name, ready: () => begun.running(), stopRequested }).then(
      (code) => begun.stopped(code),
      () => begun.stopped(SERVICE_FAILED),
    );
  };
  const control = (number: number): number => {
    const { answer, stop } = readControl(number);
    if (stop !== undefined && lifecycle !== undefined) {
      lifecycle.stopping(stopLimitMs);
      request(stop);
    }
    return answer;
  };
  await dispatchService(name, { onStart: start, onControl: control });
  const phase = lifecycle?.phase;
  if (phase === undefined) return undefined;
  return phase.kind === 'stopped' ? phase.exitCode : SERVICE_FAILED;
}

interface DispatcherEvents {
  /** Called once, when the service must begin, and only if the service control manager has started this process. */
  readonly onStart: (service: DispatchedService) => void;
  /** @returns What the service control manager is answered: 0, or a Win32 error code. */
  readonly onControl: (control: number) => number;
}

/** The name of the service that this process was started as, which may be another than that of `dispatchService`, and where it reports. */
interface DispatchedService {
  readonly name: string;
  /** Takes a SERVICE_STATUS. @throws WindowsError */
  readonly report: (status: Buffer) => void;
}

const callbacks = lazily(() => {
  const { pointer, proto } = loadKoffi();
  return {
    // https://learn.microsoft.com/windows/win32/api/winsvc/nc-winsvc-lpservice_main_functionw
    serviceMain: pointer(proto('void', ['uint32_t', 'void *'])),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nc-winsvc-lphandler_function_ex
    handlerEx: pointer(proto('uint32_t', ['uint32_t', 'uint32_t', 'void *', 'void *'])),
  };
});

/**
 * Connects this process to the service control manager.
 *
 * The call that does it returns when the service has stopped, so it has a thread of its own. What it calls back runs on the
 * event loop, on which a service must not block for that reason.
 *
 * @returns When the service has stopped, or at once if the service control manager has not started this process.
 * @throws WindowsError `unavailable` on other systems.
 */
async function dispatchService(name: string, events: DispatcherEvents): Promise<void> {
  const koffi = loadKoffi();
  const { serviceMain, handlerEx } = callbacks();
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const handler = koffi.register((control: number) => events.onControl(control), handlerEx);
  const main = koffi.register((count: number, words: bigint) => {
    try {
      // A process with one service is any service that runs it; the first word says which.
      const actual = count > 0 ? (koffi.decode(words, 'str16') as string) : name;
      events.onStart(registerHandler(actual, handler));
    } catch (error) {
      fail(error);
    }
  }, serviceMain);
  const table = dispatchTable(name, main);
  try {
    using thread = startDispatcher(table, name);
    const ended = signalledOnce(thread.value, `cannot wait for the end of the service ${name}`);
    // After a failure the thread lives on, and so do the callbacks that it may call.
    await Promise.race([ended, failed]);
    koffi.unregister(main);
    koffi.unregister(handler);
  } finally {
    // It must not be garbage-collected before this point.
    table.fill(0);
  }
}

function registerHandler(name: string, handler: bigint): DispatchedService {
  const tried = `cannot run as the service ${name}`;
  const service = call(tried, advapi32.RegisterServiceCtrlHandlerExW, name, handler, null);
  const reporting = `cannot report the status of the service ${name}`;
  return {
    name,
    report: (status) => void call(reporting, advapi32.SetServiceStatus, service, status),
  };
}

/** Our entry, the empty one that ends the table, and the name. */
function dispatchTable(name: string, main: bigint): Buffer {
  const entries = 2 * SERVICE_TABLE_ENTRYW.sizeBytes;
  const memory = Buffer.concat([Buffer.alloc(entries), Buffer.from(`${name}\0`, 'utf16le')]);
  const lpServiceName = loadKoffi().address(memory) + BigInt(entries);
  SERVICE_TABLE_ENTRYW.write(memory, { lpServiceName, lpServiceProc: main });
  return memory;
}

/** The call is on a thread of the system's own, because it blocks long: Node has four threads, and files need them too. */
function startDispatcher(table: Buffer, name: string): OwnedHandle {
  const tried = `cannot connect to the service control manager as ${name}`;
  // A thread takes one pointer, and so does this function.
  const start = addressOfFunction('advapi32.dll', 'StartServiceCtrlDispatcherW');
  return new OwnedHandle(call(tried, kernel32.CreateThread, null, 0, start, table, 0, [0]));
}

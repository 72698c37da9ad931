import { reporter } from '@wins/base';
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

/** A service that is not ready after this time counts as ended, with exit code 1. */
const START_LIMIT_MS = 120_000;

/** Link from a running service to the service control manager. */
export interface RunningService {
  /** The real name, which may differ from {@link ServiceOptions.name}. */
  readonly name: string;
  /** Reports that the service runs. */
  ready(): void;
  /** Resolves at the first request to stop, perhaps before `ready`. */
  readonly stopRequested: Promise<ServiceStopReason>;
}

/** Options of {@link runAsService}. */
export interface ServiceOptions {
  /** The usual name, used until the service control manager gives the real one. */
  readonly name: string;
  /** Calls `ready` and resolves with the exit code; every code except 0 triggers the failure actions. */
  readonly run: (service: RunningService) => Promise<number>;
  /** Time limit of a stop in milliseconds; after it, the service counts as ended, with exit code 1. Default: 40,000. */
  readonly stopLimitMs?: number | undefined;
  /** Called when the service control manager rejects a report. */
  readonly onReportFailed?: ((error: unknown) => unknown) | undefined;
}

/**
 * Runs a program as a service if the service control manager started it. Detects that without a command-line flag. If
 * `run` rejects, the exit code is 1.
 *
 * @returns The reported exit code. If this process is not a service, returns undefined and does not call `run`.
 * @throws WindowsError `unavailable` on other systems.
 */
export async function runAsService(options: ServiceOptions): Promise<number | undefined> {
  const { name, run, stopLimitMs = 40_000 } = options;
  const reportFailed = reporter(options.onReportFailed);
  // Contact the service control manager only if it is the parent process, because its answer can be delayed until
  // another service has started.
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
        reportFailed(error);
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
  /** Called once, and only if the service control manager has started this process. */
  readonly onStart: (service: DispatchedService) => void;
  /** Returns 0 or a Win32 error code. */
  readonly onControl: (control: number) => number;
}

interface DispatchedService {
  /** The real name, which may differ from the `name` given to `dispatchService`. */
  readonly name: string;
  /** Takes a SERVICE_STATUS. */
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
 * Resolves when the service has stopped, or at once if the service control manager has not started this process. The
 * dispatcher's call blocks meanwhile, so it has its own thread. Callbacks run on the event loop, which a service must not
 * block.
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
      // The system ignores the name in a table of one service. The first of the `words` is the real name.
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
    // If `failed` rejects, the callbacks stay registered, because the thread lives on and may call them.
    await Promise.race([ended, failed]);
    koffi.unregister(main);
    koffi.unregister(handler);
  } finally {
    // Keeps the table from being garbage-collected before this point.
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

/** Layout: our entry, the empty entry that ends the table, and the name. */
function dispatchTable(name: string, main: bigint): Buffer {
  const entries = 2 * SERVICE_TABLE_ENTRYW.sizeBytes;
  const memory = Buffer.concat([Buffer.alloc(entries), Buffer.from(`${name}\0`, 'utf16le')]);
  const lpServiceName = loadKoffi().address(memory) + BigInt(entries);
  SERVICE_TABLE_ENTRYW.write(memory, { lpServiceName, lpServiceProc: main });
  return memory;
}

/** Uses a native thread, because the call blocks and Node needs its four worker threads for file access. */
function startDispatcher(table: Buffer, name: string): OwnedHandle {
  const tried = `cannot connect to the service control manager as ${name}`;
  // StartServiceCtrlDispatcherW can be the body of a thread, because it takes one pointer.
  const start = addressOfFunction('advapi32.dll', 'StartServiceCtrlDispatcherW');
  return new OwnedHandle(call(tried, kernel32.CreateThread, null, 0, start, table, 0, [0]));
}

import { dispatchService, type DispatchedService } from './service-dispatcher.js';
import { programNameOf } from '../processes/windows-process-table.js';
import {
  readControl,
  SERVICE_FAILED,
  ServiceLifecycle,
  serviceStatusOf,
  type ServiceStopReason,
} from './service-lifecycle.js';

/** How long a start may take; then it counts as ended, with exit code 1. */
const START_LIMIT_MS = 120_000;

/** A service, for the program that is one. */
export interface RunningService {
  /** What it is called by the service control manager, which may be another name than the usual one. */
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
   * The service itself. It tells when it is ready, and returns its exit code when it is done: 0, or one that makes the
   * failure actions follow. It must not throw; if it does, the exit code is 1.
   */
  readonly run: (service: RunningService) => Promise<number>;
  /** How long it may take to stop; then it counts as ended, with exit code 1. Default: 40,000. */
  readonly stopLimitMs?: number;
  /** Called when the service control manager rejects a report. */
  readonly onReportFailed?: (error: unknown) => void;
}

/**
 * Runs a program as a service if the service control manager has started it as one, which it finds out by asking; no flag
 * is needed. Only a program whose parent could be the service control manager asks: any other one might wait for the answer as long as
 * some service takes to start.
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

import { setTimeout as delay } from 'node:timers/promises';
import {
  endProcess,
  isRunning,
  processIdentity,
  type ProcessIdentity,
} from '../processes/windows-process.js';
import { WindowsError } from '../windows-error.js';
import { serviceControlManager } from './service-control-manager.js';

const LOOK_EVERY_MS = 20;
/** Time limit for a killed process, which is usually gone much sooner. */
const FORCED_MS = 10_000;

/** Time limits for a service and its process to end by themselves, in milliseconds. */
export interface ServiceEndOptions {
  /** Until the service reports that it has stopped. */
  readonly stopMs: number;
  /** From the service's report until its process is gone. */
  readonly exitMs: number;
}

/** Resolves once the process of the service exists, even if the service is not ready. @throws WindowsError as `start` does. */
export async function startServiceProcess(name: string): Promise<void> {
  const started = new AbortController();
  try {
    await serviceControlManager().start(name, {
      signal: started.signal,
      onProgress: ({ pid }) => {
        if (pid !== 0) started.abort();
      },
    });
  } catch (error) {
    if (!started.signal.aborted) throw error;
  }
}

/**
 * Stops a service and resolves when its process is gone, because only then is the program file free. Some processes never
 * end, so it kills the process after the time limits.
 *
 * @throws WindowsError `notFound`, `accessDenied`; `busy` while dependent services run; `timeout` when the process does not
 * end.
 */
export async function endService(name: string, { stopMs, exitMs }: ServiceEndOptions) {
  const services = serviceControlManager();
  const { pid } = services.status(name);
  const running = pid === 0 ? undefined : processIdentity(pid);
  try {
    await services.stop(name, { timeoutMs: stopMs });
  } catch (error) {
    const isLate = error instanceof WindowsError && error.code === 'timeout';
    if (!isLate || running === undefined) throw error;
    await endProcessWithin(running, 0);
    await noticeEnd(name, running);
  }
  if (running !== undefined) await endProcessWithin(running, exitMs);
}

/** Kills the process if it has not ended after `ms`, but never another process that got its PID. @throws WindowsError `timeout` if it survives. */
export async function endProcessWithin(running: ProcessIdentity, ms: number): Promise<void> {
  if (await hasEnded(running, ms)) return;
  endProcess(running);
  if (await hasEnded(running, FORCED_MS)) return;
  throw new WindowsError(
    'timeout',
    `its process ${running.pid} does not end, although it was killed`,
  );
}

/** Waits until the service manager notices the kill. Ignores a WindowsError unless the service has a new process. */
async function noticeEnd(name: string, { pid }: ProcessIdentity): Promise<void> {
  const services = serviceControlManager();
  try {
    await services.stop(name, { timeoutMs: FORCED_MS });
  } catch (error) {
    const { pid: now } = services.status(name);
    if (!(error instanceof WindowsError) || (now !== 0 && now !== pid)) throw error;
  }
}

async function hasEnded(running: ProcessIdentity, withinMs: number): Promise<boolean> {
  const endMs = performance.now() + withinMs;
  while (isRunning(running)) {
    if (performance.now() >= endMs) return false;
    await delay(LOOK_EVERY_MS);
  }
  return true;
}

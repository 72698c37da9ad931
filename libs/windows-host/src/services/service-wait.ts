import { reporter } from '@wins/base';
import { SERVICE_STATUS_PROCESS } from '../win32/structures.js';
import { advapi32 } from '../win32/advapi32.js';
import { call, OwnedHandle } from '../win32/calls/call.js';
import { setTimeout as delay } from 'node:timers/promises';
import { WindowsError } from '../windows-error.js';

/** State of a service, as the service control manager defines it. */
export type ServiceState =
  | ('stopped' | 'startPending' | 'stopPending' | 'running')
  | ('continuePending' | 'pausePending' | 'paused');

/** Ordered by state number, starting at 1. */
const STATES: readonly ServiceState[] = [
  'stopped',
  'startPending',
  'stopPending',
  'running',
  'continuePending',
  'pausePending',
  'paused',
];

/** Status of a service, as the service control manager reports it. */
export interface ServiceStatus {
  readonly state: ServiceState;
  /** 0 without a process. */
  readonly pid: number;
  /** Win32 error code of the last run; 1066 when `serviceExitCode` applies. */
  readonly win32ExitCode: number;
  /** Exit code of the last run, defined by the service. */
  readonly serviceExitCode: number;
  /** Grows while a pending state makes progress. */
  readonly checkpoint: number;
  /** The service's estimate of the time until its next progress, in milliseconds. */
  readonly waitHintMs: number;
}

/** ERROR_SERVICE_SPECIFIC_ERROR: the exit code is one of the service's own. */
export const SERVICE_SPECIFIC_ERROR = 1066;

export function parseServiceStatus(memory: Buffer): ServiceStatus {
  const status = SERVICE_STATUS_PROCESS.read(memory);
  const state = STATES[status.dwCurrentState - 1];
  if (state === undefined) throw new RangeError(`a service has no state ${status.dwCurrentState}`);
  return {
    state,
    win32ExitCode: status.dwWin32ExitCode,
    serviceExitCode: status.dwServiceSpecificExitCode,
    checkpoint: status.dwCheckPoint,
    waitHintMs: status.dwWaitHint,
    pid: status.dwProcessId,
  };
}

export function stateNumber(state: ServiceState): number {
  return STATES.indexOf(state) + 1;
}

const SC_MANAGER_CONNECT = 0x1;

/** `purpose`, such as `start it`, completes the error message. Closes the handle once `action` has settled. */
export function withService<T>(
  name: string,
  access: number,
  purpose: string,
  action: (service: number) => T,
): T {
  return withManager(SC_MANAGER_CONNECT, (manager) => {
    const tried = `cannot open the service ${name} to ${purpose}`;
    return using(call(tried, advapi32.OpenServiceW, manager, name, access), action);
  });
}

export function withManager<T>(access: number, action: (manager: number) => T): T {
  const tried = 'cannot connect to the service control manager';
  return using(call(tried, advapi32.OpenSCManagerW, null, null, access), action);
}

/** Closes the handle once `action` has settled: a removed service is gone only when no handle is open. */
export function using<T>(handle: number, action: (handle: number) => T): T {
  const owned = new OwnedHandle(handle, (value) => void advapi32.CloseServiceHandle(value));
  let isPending = false;
  try {
    const result = action(owned.value);
    if (!(result instanceof Promise)) return result;
    isPending = true;
    return result.finally(() => owned.close()) as T;
  } finally {
    if (!isPending) owned.close();
  }
}

/** `service` is a handle with SERVICE_QUERY_STATUS access. */
export function statusOf(service: number, name: string): ServiceStatus {
  const tried = `cannot query the state of the service ${name}`;
  const memory = SERVICE_STATUS_PROCESS.create({});
  call(tried, advapi32.QueryServiceStatusEx, service, 0, memory, memory.length, [0]);
  return parseServiceStatus(memory);
}

export const DEFAULT_TIMEOUT_MS = 60_000;
export const LOOK_EVERY_MS = 100;

/** Limits of the wait for a service to start or stop. */
export interface WaitOptions {
  /** Default: 60,000. The wait ends earlier for a service without progress. */
  readonly timeoutMs?: number | undefined;
  /** Called with each new state and checkpoint. */
  readonly onProgress?: ((status: ServiceStatus) => unknown) | undefined;
  /** Ends the wait. A start or stop in progress continues. */
  readonly signal?: AbortSignal | undefined;
}

interface Awaited {
  readonly service: number;
  readonly name: string;
  readonly tried: string;
  /** Start of the wait, by `performance.now`. Default: now. */
  readonly sinceMs?: number;
  readonly beforeLook?: () => void;
}

/** @throws WindowsError `timeout`; `unknown` if the service stopped instead of running. */
export async function waitFor(
  wanted: 'running' | 'stopped',
  { service, name, tried, sinceMs = performance.now(), beforeLook }: Awaited,
  { timeoutMs = DEFAULT_TIMEOUT_MS, onProgress, signal }: WaitOptions,
): Promise<ServiceStatus> {
  const deadline = sinceMs + timeoutMs;
  const report = reporter(onProgress);
  let progress: Progress | undefined;
  for (;;) {
    signal?.throwIfAborted();
    beforeLook?.();
    const nowMs = performance.now();
    const next = judgeProgress(wanted, statusOf(service, name), nowMs, progress);
    if (next.changedAtMs === nowMs) report(next.status);
    progress = next;
    const { status, verdict } = next;
    if (verdict === 'reached') return status;
    if (verdict === 'ended')
      throw new WindowsError('unknown', `${tried}: it ended with ${exitOf(status)}`);
    if (verdict === 'stalled' || nowMs >= deadline) {
      const found = `it is ${status.state}, checkpoint ${status.checkpoint}`;
      const why = verdict === 'stalled' ? 'without progress' : `after ${timeoutMs} ms`;
      throw new WindowsError('timeout', `${tried}: ${found} ${why}; wanted ${wanted}`);
    }
    await delay(LOOK_EVERY_MS, undefined, signal && { signal });
  }
}

/** The call cannot be cancelled, so it continues after the time-out. */
export async function waitForCall(
  call: Promise<void>,
  { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: WaitOptions,
): Promise<void> {
  const over = new AbortController();
  const ends = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  try {
    await Promise.race([call, delay(timeoutMs, undefined, { signal: ends })]);
  } finally {
    over.abort();
  }
}

export async function waitUntilGone(
  isThere: () => boolean,
  { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: Pick<WaitOptions, 'timeoutMs' | 'signal'>,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isThere()) {
    if (performance.now() >= deadline) return false;
    await delay(LOOK_EVERY_MS, undefined, signal && { signal });
  }
  return true;
}

function exitOf({ win32ExitCode, serviceExitCode }: ServiceStatus): string {
  return serviceExitCode === 0 ? `error ${win32ExitCode}` : `exit code ${serviceExitCode}`;
}

/** Grace beyond the wait hint, because slow progress on a busy machine is not a hang. */
const PATIENCE_MS = 10_000;

type ProgressVerdict = 'reached' | 'waiting' | 'ended' | 'stalled';

/** Result of `judgeProgress`, passed back to it with the next status. */
interface Progress {
  readonly verdict: ProgressVerdict;
  readonly status: ServiceStatus;
  /** Time of the last change of state or checkpoint. */
  readonly changedAtMs: number;
}

/** `stalled`: a pending service made no progress within its wait hint plus 10 s. `ended`: the service stopped before it reached `running`. */
export function judgeProgress(
  wanted: Extract<ServiceState, 'running' | 'stopped'>,
  status: ServiceStatus,
  nowMs: number,
  before?: Progress,
): Progress {
  const { state, checkpoint, waitHintMs } = status;
  const isSame = before?.status.state === state && before.status.checkpoint === checkpoint;
  const changedAtMs = isSame ? before.changedAtMs : nowMs;
  const verdict = ((): ProgressVerdict => {
    if (state === wanted) return 'reached';
    if (state === 'stopped') return 'ended';
    const isPending = state === 'startPending' || state === 'stopPending';
    return isPending && nowMs - changedAtMs > waitHintMs + PATIENCE_MS ? 'stalled' : 'waiting';
  })();
  return { verdict, status, changedAtMs };
}

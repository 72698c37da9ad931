import { setTimeout as delay } from 'node:timers/promises';
import { statusOf } from './service-handle.js';
import type { ServiceStatus, ServiceState } from './service-status.js';
import { WindowsError } from '../windows-error.js';

export const DEFAULT_TIMEOUT_MS = 60_000;
export const LOOK_EVERY_MS = 100;

/** How long to wait for a service. */
export interface WaitOptions {
  /** Default: 60,000. A service without progress is given up before. */
  readonly timeoutMs?: number;
  /** Called with each new state and checkpoint. */
  readonly onProgress?: (status: ServiceStatus) => void;
  readonly signal?: AbortSignal;
}

/** An open service that is on its way. */
export interface Awaited {
  readonly service: number;
  readonly name: string;
  /** What begins a message. */
  readonly tried: string;
  /** When the waiting began, by `performance.now`. Default: now. */
  readonly sinceMs?: number;
  /** Called before each look. */
  readonly beforeLook?: () => void;
}

/**
 * Looks at a service until it is in a state.
 *
 * @throws WindowsError `timeout`; `unknown` when it ended instead.
 */
export async function waitFor(
  wanted: 'running' | 'stopped',
  { service, name, tried, sinceMs = performance.now(), beforeLook }: Awaited,
  { timeoutMs = DEFAULT_TIMEOUT_MS, onProgress, signal }: WaitOptions,
): Promise<ServiceStatus> {
  const deadline = sinceMs + timeoutMs;
  let progress: Progress | undefined;
  for (;;) {
    signal?.throwIfAborted();
    beforeLook?.();
    const nowMs = performance.now();
    const next = judgeProgress(wanted, statusOf(service, name), nowMs, progress);
    if (next.changedAtMs === nowMs) onProgress?.(next.status);
    progress = next;
    const { status, verdict } = next;
    if (verdict === 'reached') return status;
    if (verdict === 'ended')
      throw new WindowsError('unknown', `${tried}: it ended with ${exitOf(status)}`);
    if (verdict === 'stalled' || nowMs >= deadline) {
      const found = `it is ${status.state}, checkpoint ${status.checkpoint}`;
      const why = verdict === 'stalled' ? 'without progress' : `after ${timeoutMs} ms`;
      throw new WindowsError('timeout', `${tried}: ${found} ${why}; ${wanted} is wanted`);
    }
    await delay(LOOK_EVERY_MS, undefined, signal && { signal });
  }
}

/** Waits for a call that cannot be taken back, until it has returned or the time is up; it goes on when it is given up. */
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

/** Looks until something is no longer there, or the time is up; which of them is the answer. */
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

/** A pending service may be this much later than its own wait hint: a busy machine is not a hang. */
const PATIENCE_MS = 10_000;

/** What one who waits for a state makes of a status. */
export type ProgressVerdict = 'reached' | 'waiting' | 'ended' | 'stalled';

/** What was seen of a service that is on its way to a state; give it back with the next status. */
export interface Progress {
  readonly verdict: ProgressVerdict;
  readonly status: ServiceStatus;
  /** When the state or the checkpoint changed last. */
  readonly changedAtMs: number;
}

/**
 * Judges one look at a service that should come to a state. It is `stalled` when it shows no new checkpoint for longer
 * than it said that it needs, and `ended` when it is stopped and should run.
 */
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

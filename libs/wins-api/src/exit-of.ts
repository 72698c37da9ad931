import type { ProcessExit } from './gen/process.js';
import type { RunEndReason, RunExit } from './host-run.js';

const REASONS: Readonly<Record<RunEndReason, true>> = {
  exited: true,
  outOfMemory: true,
  stopped: true,
  leaseEnded: true,
  leaseNeverHeld: true,
  ownerDisconnected: true,
  replaced: true,
  yielded: true,
  daemonStopping: true,
  hostFailed: true,
  unknown: true,
};

/** A Go daemon reports no exit. */
export function exitOf(exit: ProcessExit | undefined): RunExit {
  if (exit === undefined) return { exitCode: undefined, signal: undefined, reason: 'unknown' };
  const { code, signal } = exit;
  const reason = Object.hasOwn(REASONS, exit.reason) ? (exit.reason as RunEndReason) : 'unknown';
  if (signal !== '') return { exitCode: undefined, signal, reason };
  return { exitCode: code, signal: undefined, reason };
}

/** A detached run, including its restarts, as the daemon sees it. */
import type { Noted } from '../keeper/note.js';
import type { ProcessError } from '../process-error.js';
import type { ManagedProcess, ProcessExit } from '../supervision/managed-process.js';
import type { RestartPlan } from './restart-plan.js';
import type { RunEnd, DetachedRecord } from '../supervision/run-record.js';

/** A run that outlives its client and the manager, with its newest attempt. */
export interface DetachedRun {
  /** Unique key of the run; `keep:NAME` for a program that the config keeps. */
  readonly label: string;
  readonly facts: DetachedRecord;
  /** Process of the newest attempt; undefined once it has ended. */
  readonly process: ManagedProcess | undefined;
  /** How the newest attempt ended; undefined while it lives or starts. */
  readonly end: RunEnd | undefined;
  /** Undefined for a run with a lease. */
  readonly plan: RestartPlan | undefined;
  /** Error of the last start, if it was refused. */
  readonly refused: ProcessError | undefined;
  /** True while an attempt is being started and none lives. */
  readonly isStarting: boolean;
}

/** Returns the final exit of a run; undefined while it runs or will be started again. */
export function lastEndOf({ end, plan }: DetachedRun): RunEnd | undefined {
  return plan?.next.kind === 'again' ? undefined : end;
}

/** Prefix of the names of programs that the config keeps. No client can use it, because a client's label contains no colon. */
export const KEEP_PREFIX = 'keep:';

/** Name of a program that the config keeps. */
export type KeptName = `${typeof KEEP_PREFIX}${string}`;

/** True for the name of a program that the config keeps. No client's name has this form. */
export function isKept(label: string): label is KeptName {
  return label.startsWith(KEEP_PREFIX);
}

/** `adopting`: its keeper lives, but has not answered yet. */
export const RUN_STATES = [
  'starting',
  'running',
  'stopping',
  'adopting',
  'waiting',
  'stopped',
  'gaveUp',
  'ended',
] as const;

/** Combines the newest attempt and the restart plan into one state. */
export function stateOf(run: DetachedRun): (typeof RUN_STATES)[number] {
  if (run.isStarting) return 'starting';
  if (run.end === undefined && run.process === undefined) return 'adopting';
  if (run.end === undefined) return run.process?.state.kind === 'running' ? 'running' : 'stopping';
  const { kind = 'none' } = run.plan?.next ?? {};
  if (kind === 'gaveUp' || kind === 'stopped') return kind;
  return kind === 'again' ? 'waiting' : 'ended';
}

/** Events of detached runs, for the daemon's log. */
export type DetachedEvent =
  | {
      readonly type: 'runRestarts';
      readonly run: DetachedRun;
      readonly waitMs: number;
      readonly refused?: ProcessError | undefined;
    }
  | {
      readonly type: 'runGaveUp';
      readonly run: DetachedRun;
      readonly next: Extract<RestartPlan['next'], { readonly kind: 'gaveUp' }>;
    }
  /** The run ended while no manager existed. */
  | { readonly type: 'runEndedUnattended'; readonly run: DetachedRun; readonly exit: ProcessExit }
  /** For the log. */
  | ({ readonly type: 'noted' } & Noted);

/** Disk space that a client has claimed, in bytes. */
export interface DiskClaim {
  readonly held: number;
  set(bytes: number): void;
  /** Idempotent. */
  release(): void;
}

/** True for a run with a lease, which ends when its client leaves. */
export function hasLease({ facts }: DetachedRun): boolean {
  return facts.leaseMs !== undefined;
}

/** Returns false until an attempt has started. Refused starts do not count. */
export function isBegun({ facts }: DetachedRun): boolean {
  return facts.pid !== 0;
}

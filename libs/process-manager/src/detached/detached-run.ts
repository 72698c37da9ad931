/** A detached run, including its restarts, as the daemon sees it. */
import { quoteText } from '@wins/base';
import { EventEmitter } from 'node:events';
import type { KeptTree } from '../keeper/kept-tree.js';
import { ProcessError } from '../process-error.js';
import type { ManagedProcess, ProcessExit } from '../supervision/managed-process.js';
import type { RestartPlan } from './restart-plan.js';
import type { RunEnd, DetachedRecord } from '../supervision/run-record.js';

export interface DetachedRun {
  readonly label: string;
  readonly facts: DetachedRecord;
  /** Process of the newest attempt; undefined once it has ended. */
  readonly process: ManagedProcess | undefined;
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

export function stateOf(run: DetachedRun): (typeof RUN_STATES)[number] {
  if (run.isStarting) return 'starting';
  if (run.end === undefined && run.process === undefined) return 'adopting';
  if (run.end === undefined) return run.process?.state.kind === 'running' ? 'running' : 'stopping';
  const { kind = 'none' } = run.plan?.next ?? {};
  if (kind === 'gaveUp' || kind === 'stopped') return kind;
  return kind === 'again' ? 'waiting' : 'ended';
}

export type DetachedEvent =
  | {
      readonly type: 'runRestarts';
      readonly run: DetachedRun;
      readonly waitMs: number;
      readonly refused?: ProcessError;
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

export interface Noted {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export type Note = (level: Noted['level'], text: string, facts: Noted['facts']) => void;

/** Disk space that a client has claimed, in bytes. */
export interface DiskClaim {
  readonly held: number;
  set(bytes: number): void;
  /** Idempotent. */
  release(): void;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface Entry extends Mutable<DetachedRun> {
  /** Tree of the process. */
  tree: KeptTree | undefined;
  claim: DiskClaim | undefined;
  /** Monotonic time at which this daemon saw the newest attempt start; undefined for an adopted one. */
  startedAtMonoMs: number | undefined;
  /** Monotonic time of the planned restart, once this daemon waits for it; `atMs` identifies the plan. */
  awaited: { readonly atMs: number; readonly monoMs: number } | undefined;
  /** Monotonic time since which this daemon knows the last end, and the age that the end had then. */
  endedFrom: { readonly monoMs: number; readonly agedMs: number };
  /** Aborted to end the wait for a restart, or the start in progress. */
  attempt: AbortController;
  /** Requests to stop or remove the run so far. An operation that was requested before the last of them does nothing. */
  stops: number;
  /** True while another attempt of the run replaces the living one, so that its end leads to no restart. */
  isReplaced: boolean;
  /** True once the run is forgotten. */
  isGone: boolean;
  /** Settles after all operations on the run so far. Never rejects. */
  turn: Promise<unknown>;
  /** Resolves when the restart is done or cancelled. */
  restarting: Promise<void>;
  readonly changes: EventEmitter;
  /** Resolves when the run has ended and this daemon has recorded its end. */
  over: Promise<void>;
}

/** True for a run with a lease, which ends when its client leaves. */
export function hasLease({ facts }: DetachedRun): boolean {
  return facts.leaseMs !== undefined;
}

/** True while the keeper of a run is alive but has not answered yet. */
export function isWaiting({ process, end }: Entry): boolean {
  return process === undefined && end === undefined;
}

/** Returns false until an attempt has started. Refused starts do not count. */
export function isBegun({ facts }: DetachedRun): boolean {
  return facts.pid !== 0;
}

export function oldestEnded(entries: readonly Entry[]): Entry | undefined {
  const ended = entries.filter((entry) => lastEndOf(entry) !== undefined);
  return ended.sort((a, b) => ageOf(b, 0) - ageOf(a, 0))[0];
}

/** Returns the time since the last end, whatever the clock was set to meanwhile. */
export function ageOf({ endedFrom }: Pick<Entry, 'endedFrom'>, monoMs: number): number {
  return endedFrom.agedMs + monoMs - endedFrom.monoMs;
}

export function newEntry(parts: Pick<Entry, 'label' | 'facts' | 'plan'>): Entry {
  return {
    ...parts,
    process: undefined,
    tree: undefined,
    end: undefined,
    refused: undefined,
    isStarting: false,
    claim: undefined,
    startedAtMonoMs: undefined,
    awaited: undefined,
    endedFrom: { monoMs: 0, agedMs: 0 },
    attempt: new AbortController(),
    stops: 0,
    isReplaced: false,
    isGone: false,
    turn: Promise.resolve(),
    restarting: Promise.resolve(),
    changes: new EventEmitter(),
    over: Promise.resolve(),
  };
}

interface UnbegunParts {
  readonly owner: DetachedRecord['owner'];
  readonly path: string;
  /** Undefined for a run with a lease. */
  readonly plan: RestartPlan | undefined;
  readonly nowMs: number;
}

/** Creates the entry of a run of which no attempt has started yet. */
export function unbegunEntry(
  label: string,
  mark: string,
  { owner, path, plan, nowMs }: UnbegunParts,
): Entry {
  const run = { name: '', mark, path, entry: '', stagedPath: '', sha256: '' };
  const facts: DetachedRecord = {
    version: 1,
    label,
    supervisor: '',
    pid: 0,
    startToken: '',
    startedAtMs: nowMs,
    run,
    owner,
    spoolBytes: 0,
    maxAgeMs: 0,
  };
  return Object.assign(newEntry({ label, facts, plan }), { end: lostEnd(mark, 0, nowMs) });
}

export function lostEnd(mark: string, outputBytes: number, endedAtMs: number): RunEnd {
  return { version: 1, mark, code: 137, reason: 'hostFailed', endedAtMs, outputBytes };
}

/**
 * Runs one operation at a time on a run, in the order of the requests.
 *
 * @param isStop - True: the operation ends the run, so another request to stop it does not cancel it. Default false.
 * @throws ProcessError `notFound` if the run has been removed meanwhile, `aborted` if it has been stopped.
 */
export function inTurn<T>(entry: Entry, work: () => Promise<T>, isStop = false): Promise<T> {
  const { stops } = entry;
  const tried = `cannot change the detached run ${quoteText(entry.label)}: it was`;
  const done = entry.turn.then(() => {
    // A run whose first start was cancelled by this stop is gone, as requested.
    const isCancelled = isStop && !isBegun(entry);
    if (entry.isGone && !isCancelled)
      throw new ProcessError('notFound', `${tried} removed meanwhile`);
    if (entry.stops !== stops && !isStop)
      throw new ProcessError('aborted', `${tried} stopped meanwhile`);
    return work();
  });
  entry.turn = done.catch(() => undefined);
  return done;
}

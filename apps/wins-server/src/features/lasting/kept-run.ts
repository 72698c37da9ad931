/** A detached run, including its restarts, as the daemon sees it. */
import type { ClientIdentity } from '@wins/base';
import type { ManagedProcess, ProcessError } from '@wins/process-manager';
import type { EventEmitter } from 'node:events';
import type { Claim } from '../../kernel/admission/shares.js';
import type { RestartPlan } from './restart-plan.js';
import type { KeptEnd, KeptRun } from './run-folders.js';

export interface Kept {
  readonly label: string;
  readonly facts: KeptRun;
  /** Process of the newest attempt; undefined once it has ended. */
  readonly process: ManagedProcess | undefined;
  readonly end: KeptEnd | undefined;
  /** Undefined for a run without restarts. */
  readonly plan: RestartPlan | undefined;
  /** Error of the last start, if it was refused. */
  readonly refused: ProcessError | undefined;
}

/** Returns the final exit of a run; undefined while it runs or will be started again. */
export function lastEndOf({ end, plan }: Kept): KeptEnd | undefined {
  return plan?.next.kind === 'again' ? undefined : end;
}

export function stateOf(run: Kept): 'running' | 'waiting' | 'gaveUp' | 'ended' {
  if (run.end === undefined) return 'running';
  const { kind } = run.plan?.next ?? {};
  if (kind === 'gaveUp') return kind;
  return kind === 'again' ? 'waiting' : 'ended';
}

export type LastingEvent =
  | {
      readonly type: 'runRestarts';
      readonly run: Kept;
      readonly waitMs: number;
      readonly refused?: ProcessError;
    }
  | {
      readonly type: 'runGaveUp';
      readonly run: Kept;
      readonly next: Extract<RestartPlan['next'], { readonly kind: 'gaveUp' }>;
    };

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface Entry extends Mutable<Kept> {
  readonly claim: Claim | undefined;
  /** Aborted when the run is removed. */
  readonly leaving: AbortController;
  /** Resolves when the restart is done or cancelled. */
  restarting: Promise<void>;
  readonly changes: EventEmitter;
  /** Resolves when the run has ended and this daemon has recorded its end. */
  over: Promise<void>;
}

/** True for a held run, which ends when its client leaves. */
export function isHeld({ facts }: Entry): boolean {
  return facts.leaseMs !== undefined;
}

/** True while the keeper of a run is alive but has not answered yet. */
export function isWaiting({ process, end }: Entry): boolean {
  return process === undefined && end === undefined;
}

export function isSeenBy(
  { facts: { owner } }: Entry,
  client: ClientIdentity,
  known: KeptRun['owner'] | undefined,
): boolean {
  if (client.isAdministrator) return true;
  return known !== undefined && owner.key === known.key && owner.since === known.since;
}

/** Returns false until an attempt has started. Refused starts do not count. */
export function isBegun({ facts }: Kept): boolean {
  return facts.pid !== 0;
}

export function oldestEnded(entries: readonly Entry[]): Entry | undefined {
  const ended = entries.filter((entry) => lastEndOf(entry) !== undefined);
  return ended.sort((a, b) => (a.end?.endedAtMs ?? 0) - (b.end?.endedAtMs ?? 0))[0];
}

export function ownerFacts(client: ClientIdentity): KeptRun['owner'] {
  const { key, isAdministrator, isEverybody, description, names } = client;
  return { key, isAdministrator, isEverybody, description: { ...description }, names: [...names] };
}

export function newEntry(
  parts: Pick<Entry, 'label' | 'facts' | 'plan' | 'claim' | 'changes'>,
): Entry {
  return {
    ...{ ...parts, process: undefined, end: undefined, refused: undefined },
    leaving: new AbortController(),
    ...{ over: Promise.resolve(), restarting: Promise.resolve() },
  };
}

export function lostEnd(mark: string, outputBytes: number): KeptEnd {
  const endedAtMs = Date.now();
  return { version: 1, mark, code: 137, reason: 'hostFailed', endedAtMs, outputBytes };
}

/** A run that lasts as a daemon knows it, over all its attempts. */
import type { ClientIdentity } from '@wins/base';
import type { ManagedProcess, ProcessError } from '@wins/process-manager';
import type { EventEmitter } from 'node:events';
import type { Claim } from '../../kernel/admission/shares.js';
import type { RestartPlan } from './restart-plan.js';
import type { KeptEnd, KeptRun } from './run-folders.js';

/** A run that is kept. */
export interface Kept {
  readonly label: string;
  /** Facts of the newest attempt. */
  readonly facts: KeptRun;
  /** Undefined once it has ended. */
  readonly process: ManagedProcess | undefined;
  /** How the newest attempt ended. */
  readonly end: KeptEnd | undefined;
  /** Undefined for a run that is started once. */
  readonly plan: RestartPlan | undefined;
  /** Why the last start was refused, if it was. */
  readonly refused: ProcessError | undefined;
}

/** How a run ended that is not started again; undefined for others. */
export function lastEndOf({ end, plan }: Kept): KeptEnd | undefined {
  return plan?.next.kind === 'again' ? undefined : end;
}

/** Where a run stands. */
export function stateOf(run: Kept): 'running' | 'waiting' | 'gaveUp' | 'ended' {
  if (run.end === undefined) return 'running';
  const { kind } = run.plan?.next ?? {};
  if (kind === 'gaveUp') return kind;
  return kind === 'again' ? 'waiting' : 'ended';
}

/** An event of a run that is started again. */
export type LastingEvent =
  | {
      readonly type: 'runRestarts';
      readonly run: Kept;
      readonly waitMs: number;
      /** Why the last start was refused, if it was. */
      readonly refused?: ProcessError;
    }
  | {
      readonly type: 'runGaveUp';
      readonly run: Kept;
      readonly next: Extract<RestartPlan['next'], { readonly kind: 'gaveUp' }>;
    };

/** A run that is kept, with what a daemon does about it. */
export interface Entry extends Kept {
  facts: KeptRun;
  process: ManagedProcess | undefined;
  end: KeptEnd | undefined;
  plan: RestartPlan | undefined;
  refused: ProcessError | undefined;
  readonly claim: Claim | undefined;
  /** Aborted when it is removed. */
  readonly leaving: AbortController;
  /** Resolves when it is started again, or is not. */
  restarting: Promise<void>;
  readonly changes: EventEmitter;
  /** Resolves when it has ended and that is known here. */
  over: Promise<void>;
}

/** Whether a client holds it, or is to. */
export function isHeld({ facts }: Entry): boolean {
  return facts.leaseMs !== undefined;
}

/** Whether it is not known here how a run is: its keeper lives, and has not answered yet. */
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

/** Whether there is, or was, an attempt: a program that the config keeps may have been refused each time. */
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
    ...{
      ...parts,
      process: undefined,
      end: undefined,
      refused: undefined,
      leaving: new AbortController(),
    },
    ...{ over: Promise.resolve(), restarting: Promise.resolve() },
  };
}

export function lostEnd(mark: string, outputBytes: number): KeptEnd {
  const endedAtMs = Date.now();
  return { version: 1, mark, code: 137, reason: 'hostFailed', endedAtMs, outputBytes };
}

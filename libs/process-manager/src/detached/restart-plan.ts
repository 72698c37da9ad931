import type { TreeLimits, Complete } from '@wins/base';
import type { StateFile } from '@wins/files';
import { backoffMs } from '@wins/time';
import path from 'node:path';
import * as z from 'zod/mini';
import type { RestartBackoff } from '../policy/executable-policy.js';
import { mayPass, ProcessError } from '../process-error.js';
import type { ExitReason } from '../supervision/managed-process.js';
import { stateFile, treeLimits, type RunEnd } from '../supervision/run-record.js';

/** An attempt that lives at least this long clears earlier failures. */
const HEALTHY_MS = 10 * 60_000;
/** Maximum size of a run's request as JSON. The size is limited because the request stays on disk and in memory until the run is removed. */
const MAX_REQUEST_BYTES = 256 * 1024;
const MAX_PLAN_BYTES = 2 * MAX_REQUEST_BYTES;

/** Only these ends lead to a restart: nobody asked for the end of this run. */
const OWN_ENDS: readonly ExitReason[] = [
  'exited',
  'outOfMemory',
  'hostFailed',
  'daemonStopping',
  'yielded',
];

/** Before a grant has told how long to wait. */
const UNGRANTED = { delayMs: 0, maxDelayMs: 0 };

const text = z.string();
const count = z.int().check(z.minimum(0));

/** When a run is started again, and with which request. Its file is secret, because it contains arguments and variables. */
export interface RestartPlan {
  readonly version: 1;
  readonly when: 'always' | 'onFailure' | 'never';
  /** Maximum number of restarts after consecutive failures. Absent: no limit. */
  readonly most?: number | undefined;
  /** From the entry that granted the last attempt. */
  readonly backoff: RestartBackoff;
  readonly request: PlannedRequest;
  /** Time that the run is kept after its last end, in milliseconds, at most that of its entry. Absent: that of its entry. */
  readonly maxAgeMs?: number | undefined;
  /** Digest of the wanted program of {@link DetachedRuns.keep}. Absent: the run has none. */
  readonly kept?: string | undefined;
  /** Restarts that began; refused ones do not count. */
  readonly restarts: number;
  /** Failed attempts since the last healthy attempt. */
  readonly failures: number;
  /** Refused starts since the last attempt. They lengthen the delay, and count for nothing else. */
  readonly refusals: number;
  /** Mark of the last attempt whose end was counted, so that no manager counts the same end again. Empty until an attempt has ended. */
  readonly counted: string;
  readonly next:
    /** No restart is planned: the newest attempt is alive, or its end requires none. */
    | { readonly kind: 'none' }
    | { readonly kind: 'again'; readonly atMs: number }
    | { readonly kind: 'gaveUp'; readonly why: 'attempts' | 'refused'; readonly reason: string }
    /** Somebody stopped the run: nothing but a request starts it again. */
    | { readonly kind: 'stopped' };
}

/** Request of the next attempt. Arguments and variables may be secret. */
export interface PlannedRequest {
  readonly path: string;
  readonly args: readonly string[];
  /** `NAME=value`. */
  readonly envs: readonly string[];
  readonly directory?: string | undefined;
  readonly sha1?: string | undefined;
  readonly sha256?: string | undefined;
  readonly limits?: TreeLimits | undefined;
}

const restartPlan = z.object({
  version: z.literal(1),
  when: z.enum(['always', 'onFailure', 'never']),
  most: z.optional(count.check(z.minimum(1))),
  backoff: z.object({
    delayMs: count,
    maxDelayMs: count,
    giveUpAfter: z.optional(count.check(z.minimum(1))),
  }),
  request: z.object({
    path: text,
    args: z.array(text),
    envs: z.array(text),
    directory: z.optional(text),
    sha1: z.optional(text),
    sha256: z.optional(text),
    limits: z.optional(treeLimits),
  }),
  maxAgeMs: z.optional(count),
  kept: z.optional(text),
  restarts: count,
  failures: count,
  refusals: count,
  counted: text,
  next: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('none') }),
    z.object({ kind: z.literal('again'), atMs: count }),
    z.object({ kind: z.literal('gaveUp'), why: z.enum(['attempts', 'refused']), reason: text }),
    z.object({ kind: z.literal('stopped') }),
  ]),
});

export function planFile(folder: string): StateFile<RestartPlan> {
  return stateFile(path.join(folder, 'restart.json'), restartPlan, MAX_PLAN_BYTES);
}

/**
 * Creates the restart plan of a run that has not started yet. Pure.
 *
 * @param policy - `always`, `on-failure` or `on-failure:N`; empty or `no`: no restarts.
 * @param kept - Digest of the program's entry in the config key `keep`, if it has one.
 * @throws ProcessError `invalidArgument`.
 */
export function newPlan(
  policy: string,
  request: RestartPlan['request'],
  kept?: string,
): RestartPlan {
  const isNever = policy === '' || policy === 'no';
  const [, failure, most] = /^(?:always|(on-failure)(?::([1-9]\d{0,8}))?)$/.exec(policy) ?? [];
  if (failure === undefined && policy !== 'always' && !isNever)
    throw refusal('its restart policy is none of no, always, on-failure and on-failure:N');
  if (Buffer.byteLength(JSON.stringify(request)) > MAX_REQUEST_BYTES)
    throw refusal(`its arguments and variables have more than ${MAX_REQUEST_BYTES} bytes`);
  const whenEnded = failure === undefined ? 'always' : 'onFailure';
  return {
    version: 1,
    when: isNever ? 'never' : whenEnded,
    backoff: UNGRANTED,
    request,
    kept,
    most: most === undefined ? undefined : Number(most),
    restarts: 0,
    failures: 0,
    refusals: 0,
    counted: '',
    next: { kind: 'none' },
  };
}

/** Returns the policy from which {@link newPlan} made the plan. */
export function policyOf({ when, most }: RestartPlan): string {
  if (when === 'never') return 'no';
  if (when === 'always') return when;
  return most === undefined ? 'on-failure' : `on-failure:${most}`;
}

/** Returns the plan of a run that somebody starts by hand: earlier failures count no more. Pure. */
export function startedByHand(plan: RestartPlan, nowMs: number): RestartPlan {
  return { ...plan, failures: 0, refusals: 0, next: { kind: 'again', atMs: nowMs } };
}

/** Returns the plan after a start has succeeded. Pure. */
export function afterStart(plan: RestartPlan, isRestart: boolean): RestartPlan {
  const restarts = plan.restarts + (isRestart ? 1 : 0);
  return { ...plan, restarts, refusals: 0, next: { kind: 'none' } };
}

/** Pure, except for `random`. */
export function afterEnd(
  plan: RestartPlan,
  {
    mark,
    code,
    reason,
    livedMs,
    endedAtMs,
  }: Complete<Pick<RunEnd, 'mark' | 'code' | 'reason' | 'livedMs' | 'endedAtMs'>>,
  random?: () => number,
): RestartPlan {
  if (plan.next.kind === 'stopped') return { ...plan, counted: mark };
  // The attempt was cancelled before it was recorded. A stop by request would be in the plan.
  const isCancelled = reason === 'stopped' || reason === 'daemonStopping';
  if (isCancelled && plan.next.kind === 'again') return { ...plan, counted: mark };
  if (reason === 'stopped') return { ...plan, counted: mark, next: { kind: 'stopped' } };
  const isOwnEnd = OWN_ENDS.includes(reason);
  const hasSucceeded = reason === 'exited' && code === 0;
  if (!isOwnEnd || plan.when === 'never' || (hasSucceeded && plan.when === 'onFailure'))
    return { ...plan, counted: mark, next: { kind: 'none' } };
  const failures = livedMs < HEALTHY_MS ? plan.failures + 1 : 1;
  return nextOf({ ...plan, counted: mark, failures, refusals: 0 }, endedAtMs, random);
}

/** Returns the plan after a refused or failed start. Pure, except for `random`. */
export function afterRefusal(
  plan: RestartPlan,
  { code, message }: ProcessError,
  nowMs: number,
  random?: () => number,
): RestartPlan {
  if (!mayPass(code)) return { ...plan, next: { kind: 'gaveUp', why: 'refused', reason: message } };
  return nextOf({ ...plan, refusals: plan.refusals + 1 }, nowMs, random);
}

function nextOf(plan: RestartPlan, fromMs: number, random?: () => number): RestartPlan {
  const { backoff, failures, refusals } = plan;
  const most = Math.min(plan.most ?? Infinity, backoff.giveUpAfter ?? Infinity);
  if (failures > most) {
    const reason = `it was started again ${most === 1 ? 'once' : `${most} times`}`;
    return { ...plan, next: { kind: 'gaveUp', why: 'attempts', reason } };
  }
  const options = {
    initialMs: backoff.delayMs,
    maxMs: backoff.maxDelayMs,
    ...(random && { random }),
  };
  const waitMs = backoffMs(options, Math.max(1, failures + refusals));
  return { ...plan, next: { kind: 'again', atMs: fromMs + waitMs } };
}

function refusal(found: string): ProcessError {
  return new ProcessError('invalidArgument', `cannot start a detached run: ${found}`);
}

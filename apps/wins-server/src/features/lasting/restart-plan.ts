import type { StateFile } from '@wins/files';
import { ProcessError, type ProcessErrorCode } from '@wins/process-manager';
import { backoffMs } from '@wins/time';
import path from 'node:path';
import * as z from 'zod/mini';
import { stateFile, treeLimits } from './run-folders.js';

const BACKOFF = { initialMs: 1000, maxMs: 5 * 60_000 };
/** An attempt that lives at least this long clears earlier failures. */
const HEALTHY_MS = 10 * 60_000;
/** After this many consecutive attempts that live for less than `ms`, the run is given up. */
const BURST = { attempts: 5, ms: 10_000 };
/** Maximum size of a run's request as JSON. The size is limited because the request stays on disk and in memory until the run is removed. */
const MAX_REQUEST_BYTES = 256 * 1024;
const MAX_PLAN_BYTES = 2 * MAX_REQUEST_BYTES;
/** Refusals that may be temporary; after any other refusal there is no retry. */
const PASSING: readonly ProcessErrorCode[] = [
  ...(['alreadyRunning', 'tooManyProcesses', 'notFound', 'directoryNotFound'] as const),
  ...(['stagingFailed', 'spawnFailed', 'auditUnavailable', 'stateUnavailable', 'unknown'] as const),
];

/** Only these ends lead to a restart: nobody requested them, or a shutdown caused them. */
const OWN_ENDS: readonly string[] = ['exited', 'outOfMemory', 'hostFailed', 'daemonStopping'];

const text = z.string();
const count = z.int().check(z.minimum(0));

/** The file of a plan is secret, because it contains arguments and variables. */
const restartPlan = z.object({
  version: z.literal(1),
  when: z.enum(['always', 'onFailure', 'never']),
  /** Maximum number of restarts after consecutive failures. Absent: no limit. */
  most: z.exactOptional(count.check(z.minimum(1))),
  request: z.object({
    ...{ path: text, args: z.array(text), envs: z.array(text), directory: z.exactOptional(text) },
    ...{ sha1: z.exactOptional(text), sha256: z.exactOptional(text) },
    limits: z.exactOptional(treeLimits),
  }),
  /** Digest of the program's entry in the config key `keep`. Absent: the program has no such entry. */
  kept: z.exactOptional(text),
  restarts: count,
  /** Failed attempts and refused starts since the last healthy attempt. */
  failures: count,
  /** Consecutive attempts shorter than `BURST.ms`. */
  shortLives: count,
  /** Mark of the last attempt whose end was counted, so that no daemon counts the same end again. Empty until an attempt has ended. */
  counted: text,
  next: z.discriminatedUnion('kind', [
    /** No restart is planned: the newest attempt is alive, or its end requires none. */
    z.object({ kind: z.literal('none') }),
    z.object({ kind: z.literal('again'), atMs: count }),
    z.object({
      ...{ kind: z.literal('gaveUp'), why: z.enum(['burst', 'attempts', 'refused']) },
      reason: text,
    }),
  ]),
});

export type RestartPlan = z.infer<typeof restartPlan>;

export function planFile(folder: string): StateFile<RestartPlan> {
  return stateFile(path.join(folder, 'restart.json'), restartPlan, MAX_PLAN_BYTES);
}

export interface AttemptEnd {
  readonly mark: string;
  readonly code: number;
  readonly reason: string;
  readonly livedMs: number;
  readonly endedAtMs: number;
}

/**
 * @param policy - `always`, `on-failure` or `on-failure:N`; empty or `no`: no restarts.
 * @param kept - Digest of the program's entry in the config key `keep`, if it has one. Such a program always has a plan.
 * @returns Undefined if `policy` allows no restarts and `kept` is absent.
 * @throws ProcessError `invalidArgument`.
 */
export function newPlan(
  policy: string,
  request: RestartPlan['request'],
  kept?: string,
): RestartPlan | undefined {
  const isNever = policy === '' || policy === 'no';
  if (isNever && kept === undefined) return undefined;
  const [, failure, most] = /^(?:always|(on-failure)(?::([1-9]\d{0,8}))?)$/.exec(policy) ?? [];
  if (failure === undefined && policy !== 'always' && !isNever)
    throw refusal('its restart policy is none of no, always, on-failure and on-failure:N');
  if (Buffer.byteLength(JSON.stringify(request)) > MAX_REQUEST_BYTES)
    throw refusal(`its arguments and variables have more than ${MAX_REQUEST_BYTES} bytes`);
  const whenEnded = failure === undefined ? 'always' : 'onFailure';
  return {
    ...{ version: 1, when: isNever ? 'never' : whenEnded, request },
    ...(kept !== undefined && { kept }),
    ...(most !== undefined && { most: Number(most) }),
    ...{ restarts: 0, failures: 0, shortLives: 0, counted: '', next: { kind: 'none' } },
  };
}

/** Pure, except for `random`. */
export function afterEnd(
  plan: RestartPlan,
  { mark, code, reason, livedMs, endedAtMs }: AttemptEnd,
  random?: () => number,
): RestartPlan {
  const isOwnEnd = OWN_ENDS.includes(reason);
  const hasSucceeded = reason === 'exited' && code === 0;
  if (!isOwnEnd || plan.when === 'never' || (hasSucceeded && plan.when === 'onFailure'))
    return { ...plan, counted: mark, next: { kind: 'none' } };
  const failures = livedMs < HEALTHY_MS ? plan.failures + 1 : 1;
  const shortLives = livedMs < BURST.ms ? plan.shortLives + 1 : 0;
  return {
    ...{ ...plan, counted: mark, failures, shortLives },
    ...nextOf({ ...plan, failures, shortLives }, endedAtMs, random),
  };
}

/** Returns the plan after a refused or failed start. Pure, except for `random`. */
export function afterRefusal(
  plan: RestartPlan,
  { code, message }: ProcessError,
  nowMs: number,
  random?: () => number,
): RestartPlan {
  if (!PASSING.includes(code))
    return { ...plan, next: { kind: 'gaveUp', why: 'refused', reason: message } };
  const failures = plan.failures + 1;
  return { ...plan, failures, ...nextOf({ ...plan, failures }, nowMs, random) };
}

function nextOf(
  { most = Infinity, failures, shortLives, restarts }: RestartPlan,
  fromMs: number,
  random?: () => number,
): Pick<RestartPlan, 'next' | 'restarts'> {
  const gaveUp = (why: 'burst' | 'attempts', reason: string) =>
    ({ restarts, next: { kind: 'gaveUp', why, reason } }) as const;
  const times = most === 1 ? 'once' : `${most} times`;
  if (failures > most) return gaveUp('attempts', `it was started again ${times}`);
  if (shortLives >= BURST.attempts) {
    const lives = `${BURST.attempts} times in succession within ${BURST.ms / 1000} s`;
    return gaveUp('burst', `it ended ${lives} of its start`);
  }
  const waitMs = backoffMs({ ...BACKOFF, ...(random && { random }) }, failures);
  return { restarts: restarts + 1, next: { kind: 'again', atMs: fromMs + waitMs } };
}

function refusal(found: string): ProcessError {
  return new ProcessError('invalidArgument', `cannot start a detached run: ${found}`);
}

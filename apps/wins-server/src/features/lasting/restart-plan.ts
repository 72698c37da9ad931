import { StateFile } from '@wins/files';
import { ProcessError, type ProcessErrorCode } from '@wins/process-manager';
import { backoffMs } from '@wins/time';
import path from 'node:path';
import * as z from 'zod/mini';

/** The wait after the first failure, and the longest. */
const BACKOFF = { initialMs: 1000, maxMs: 5 * 60_000 };
/** An attempt that lives so long is healthy: failures before it do not count any more. */
const HEALTHY_MS = 10 * 60_000;
/** So many attempts in succession, each of which has lived for less than so long, are the last. */
const BURST = { attempts: 5, ms: 10_000 };
/** A request is kept as JSON, on the disk and in memory, for as long as its run is. */
const MAX_REQUEST_BYTES = 256 * 1024;
const MAX_PLAN_BYTES = 2 * MAX_REQUEST_BYTES;
/** Refusals that may be others the next time. After any other, nothing is tried again. */
const PASSING: readonly ProcessErrorCode[] = [
  ...(['alreadyRunning', 'tooManyProcesses', 'notFound', 'directoryNotFound'] as const),
  ...(['stagingFailed', 'spawnFailed', 'auditUnavailable', 'stateUnavailable', 'unknown'] as const),
];

/** Reasons of an end that nobody asked for, or that the end of the system has brought. */
const OWN_ENDS: readonly string[] = ['exited', 'outOfMemory', 'hostFailed', 'daemonStopping'];

const text = z.string();
const count = z.int().check(z.minimum(0));

/** A run that may be started again, and where that stands. It has arguments and variables: its file is as secret as they are. */
const restartPlan = z.object({
  version: z.literal(1),
  when: z.enum(['always', 'onFailure', 'never']),
  /** Failures in succession after which it is started again. Absent: any number. */
  most: z.exactOptional(count.check(z.minimum(1))),
  request: z.object({
    ...{ path: text, args: z.array(text), envs: z.array(text), directory: z.exactOptional(text) },
    ...{ sha1: z.exactOptional(text), sha256: z.exactOptional(text) },
    limits: z.exactOptional(
      z.object({
        ...{ memoryBytes: z.exactOptional(count), pids: z.exactOptional(count) },
        cpus: z.exactOptional(z.number()),
      }),
    ),
  }),
  /** The digest of what the config wants, for a program that it keeps. */
  kept: z.exactOptional(text),
  /** How often it was started again. */
  restarts: count,
  /** Ends and refused starts since it was healthy. */
  failures: count,
  /** Short lives in succession. */
  shortLives: count,
  /** The mark of the attempt whose end is counted; empty before the first end. */
  counted: text,
  next: z.discriminatedUnion('kind', [
    /** The newest attempt lives, or is the last. */
    z.object({ kind: z.literal('none') }),
    z.object({ kind: z.literal('again'), atMs: count }),
    z.object({
      ...{ kind: z.literal('gaveUp'), why: z.enum(['burst', 'attempts', 'refused']) },
      reason: text,
    }),
  ]),
});

export type RestartPlan = z.infer<typeof restartPlan>;

/** The file of a plan, in the folder of its run. A file that we did not write counts as none. */
export function planFile(folder: string): StateFile<RestartPlan> {
  return new StateFile({
    path: path.join(folder, 'restart.json'),
    maxBytes: MAX_PLAN_BYTES,
    parse: (json) => restartPlan.parse(json),
    damaged: () => undefined,
  });
}

/** How an attempt ended. */
export interface AttemptEnd {
  readonly mark: string;
  readonly code: number;
  readonly reason: string;
  readonly livedMs: number;
  readonly endedAtMs: number;
}

/**
 * The plan of a run that begins.
 *
 * @param policy - `always`, `on-failure` or `on-failure:N`; empty or `no` for a run that is started once.
 * @param kept - Of a program that the config keeps, which has a plan in any case.
 * @returns Undefined for a run that is started once.
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

/** The plan after the end of an attempt. Pure but for `random`. */
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

/** The plan after a start that was refused, or failed. Pure but for `random`. */
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

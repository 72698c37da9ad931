import { backoffMs } from '@wins/time';

/**
 * What is known of a watched file. Only what has a `file` is about one; that text tells one state of the file from another.
 *
 * - `absent`: it does not exist, or is empty.
 * - `changing`: it was seen once like this, and may still be written.
 * - `examining`: it is judged, read, and offered.
 * - `deferred`: it cannot be taken now, and is looked at again when the time has come.
 * - `offered`: a helper upgrades to it.
 * - `settled`: it is the program that runs, or its upgrade came to an end: nothing until it changes.
 */
export type FileWatch =
  | { readonly kind: 'absent' }
  | { readonly kind: 'changing' | 'settled'; readonly file: string }
  | (Tried & { readonly kind: 'examining' })
  | (Tried & { readonly kind: 'deferred'; readonly untilMs: number })
  | (Tried & { readonly kind: 'offered'; readonly untilMs: number; readonly id: string });

interface Tried {
  readonly file: string;
  readonly failures: number;
}

/**
 * What happens to a watched file, or was found out about it.
 *
 * - `seen`: it was looked at; its `file` is undefined when it does not exist, or is empty.
 * - `moved`: it was not the same any more when it had been read.
 * - `done`: there is nothing to be done.
 * - `unfit`: others could have written it, or it cannot be read.
 * - `failed`: it could not be offered, or nothing was heard of the helper that took it.
 * - `handedOver`: a helper took it.
 */
export type FileWatchEvent =
  | { readonly kind: 'seen'; readonly file: string | undefined }
  | { readonly kind: 'moved' | 'done' | 'unfit' | 'failed' }
  | { readonly kind: 'handedOver'; readonly id: string };

/** How long after a judgement the same file is judged again, in milliseconds: who may write it can change without it. */
const JUDGE_AGAIN_MS = 10_000;
const BACKOFF = { initialMs: 2_000, maxMs: 600_000, jitter: 0 };
/** A helper waits for a minute at each of three moments at most. */
const LONGEST_UPGRADE_MS = 600_000;

/** Which event counts in which state; what is not here changes nothing. */
const COUNTS: Readonly<Record<FileWatch['kind'], readonly FileWatchEvent['kind'][]>> = {
  absent: ['seen'],
  changing: ['seen'],
  examining: ['moved', 'done', 'unfit', 'failed', 'handedOver'],
  deferred: ['seen'],
  // Its helper has a copy: what becomes of the file is looked at afterwards.
  offered: ['done', 'failed'],
  settled: ['seen'],
};

/**
 * What is known after an event. Pure.
 *
 * @param nowMs - On a clock that does not jump.
 */
export function advance(watch: FileWatch, event: FileWatchEvent, nowMs: number): FileWatch {
  if (!COUNTS[watch.kind].includes(event.kind)) return watch;
  if (event.kind === 'seen') return seen(watch, event.file, nowMs);
  if (watch.kind !== 'examining' && watch.kind !== 'offered') return watch;
  const { file, failures } = watch;
  switch (event.kind) {
    case 'moved':
      return { kind: 'absent' };
    case 'done':
      return { kind: 'settled', file };
    case 'unfit':
      return { kind: 'deferred', file, failures, untilMs: nowMs + JUDGE_AGAIN_MS };
    case 'failed': {
      const delayMs = backoffMs(BACKOFF, failures + 1);
      return { kind: 'deferred', file, failures: failures + 1, untilMs: nowMs + delayMs };
    }
    case 'handedOver':
      return {
        ...{ kind: 'offered', file, failures },
        ...{ id: event.id, untilMs: nowMs + LONGEST_UPGRADE_MS },
      };
  }
}

function seen(watch: FileWatch, file: string | undefined, nowMs: number): FileWatch {
  if (file === undefined) return watch.kind === 'absent' ? watch : { kind: 'absent' };
  if (watch.kind === 'absent' || watch.file !== file) return { kind: 'changing', file };
  if (watch.kind === 'changing') return { kind: 'examining', file, failures: 0 };
  if (watch.kind === 'deferred' && nowMs >= watch.untilMs) {
    return { kind: 'examining', file, failures: watch.failures };
  }
  return watch;
}

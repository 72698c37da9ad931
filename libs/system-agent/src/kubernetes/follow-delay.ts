/** Waits between the connections of an {@link ObjectFollower}. */
export interface FollowPatience {
  /**
   * Number of watches that may fail in a row before the objects are read anew, unless so many of the shortest waits passed
   * earlier. Until then, a new watch continues at the known version. 0: each connection reads them anew.
   */
  readonly resumes: number;
  /**
   * Longest wait after the loss of a watch that had lived. The wait is random from 0.5 s on, because a server that restarts loses the
   * watches of a whole fleet in the same moment.
   */
  readonly lossMs: number;
  /** Shortest and longest wait after each further failure. */
  readonly againMs: readonly [number, number];
}

export interface FollowFailure {
  /** Failures since the last watch that lived; at least 1. */
  readonly failures: number;
  /** Whether the failed request reached the server. */
  readonly isReached: boolean;
  /** Whether the server has been reached before. */
  readonly wasReached: boolean;
  /** Whether the next connection has no version to continue at, and must read the objects. */
  readonly mustRead: boolean;
  /** Wait that the server asked for. */
  readonly retryAfterMs: number;
}

/** First wait of a client that has not reached the server yet. Doubled each time, because a network may come up after the daemon. */
const START_MS = 1_000;

const LEAST_MS = 500;

/**
 * Returns the wait before the next connection, in milliseconds. Without a version to continue at, the wait is as long as those of
 * `resumes` watches, because a read may cost the server as much. A first wait that the server asks for gets a random addition,
 * because the server may have told a whole fleet the same.
 *
 * @param random - From 0 to less than 1.
 */
export function followDelayMs(
  { failures, isReached, wasReached, mustRead, retryAfterMs }: FollowFailure,
  { resumes, lossMs, againMs: [leastMs, mostMs] }: FollowPatience,
  random: number,
): number {
  const isFirstAsked = retryAfterMs > 0 && failures === 1;
  const askedMs = isFirstAsked ? retryAfterMs + lossMs * random : retryAfterMs;
  const againMs = leastMs + (mostMs - leastMs) * random;
  const ownMs = (): number => {
    if (!wasReached && !isReached) return Math.min(againMs, START_MS * 2 ** (failures - 1));
    if (failures === 1) return LEAST_MS + (lossMs - LEAST_MS) * random;
    return mustRead && isReached ? againMs * Math.max(1, resumes) : againMs;
  };
  return Math.round(Math.max(ownMs(), askedMs));
}

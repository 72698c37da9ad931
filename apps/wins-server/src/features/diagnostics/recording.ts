import { setTimeout as delay } from 'node:timers/promises';
import { FeatureError } from '../../kernel/feature-error.js';
import { InspectorSession } from './inspector-session.js';

/** For how long something is recorded. */
export interface RecordOptions {
  /** From more than 0 to 60. */
  readonly seconds: number;
  /** Ends it before its time, without a result. */
  readonly signal?: AbortSignal | undefined;
}

const LONGEST_SECONDS = 60;
/** The largest recording, as text. */
export const LARGEST_BYTES = 32 * 1024 * 1024;

/**
 * Records with a session of the inspector, which ends with the recording.
 *
 * @param tried - For the message of an error: `record a profile`.
 * @param record - Waits with the function that it is given: until the time is over, or the signal says that there is enough.
 * @throws FeatureError `invalidArgument` for a time that is not within the limits, `unavailable`; the reason of the signal.
 */
export async function recorded<Result>(
  tried: string,
  { seconds, signal }: RecordOptions,
  record: (
    session: InspectorSession,
    wait: (enough?: AbortSignal) => Promise<void>,
  ) => Promise<Result>,
): Promise<Result> {
  if (!(seconds > 0 && seconds <= LONGEST_SECONDS)) {
    const message = `cannot ${tried}: found ${seconds} s; wanted more than 0 and at most ${LONGEST_SECONDS}`;
    throw new FeatureError('invalidArgument', message);
  }
  signal?.throwIfAborted();
  using session = new InspectorSession(tried);
  return await record(session, async (enough) => {
    const ends = AbortSignal.any([signal, enough].filter((each) => each !== undefined));
    await delay(seconds * 1000, undefined, { signal: ends }).catch((error: unknown) => {
      signal?.throwIfAborted();
      if (enough?.aborted !== true) throw error;
    });
  });
}

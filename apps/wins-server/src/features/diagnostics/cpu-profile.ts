import { FeatureError } from '../../kernel/feature-error.js';
import { LARGEST_BYTES, recorded, type RecordOptions } from './recording.js';

/** What the profiler has seen, as `.cpuprofile` files have it. Names of functions and files alone: no argument, no text. */
export interface CpuProfile {
  readonly nodes: readonly CpuProfileNode[];
  /** Ids of nodes. */
  readonly samples?: readonly number[];
}

/** One call frame with one way of getting there. */
export interface CpuProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    /** From 0. */
    readonly lineNumber: number;
  };
  readonly hitCount?: number;
  readonly children?: readonly number[];
}

/** Between two looks, in microseconds. */
const INTERVAL_US = 1000;

/**
 * Looks where the thread of JavaScript is, each millisecond, which takes a few percent of it. Starting and ending stop the event loop for
 * some tens of milliseconds, the end of a long and busy recording for some hundreds.
 *
 * @throws FeatureError `invalidArgument`, `unavailable`; the reason of the signal.
 */
export function recordCpuProfile(options: RecordOptions): Promise<CpuProfile> {
  return recorded('record the processor', options, async (session, wait) => {
    await session.ask('Profiler.enable');
    await session.ask('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    await session.ask('Profiler.start');
    await wait();
    return (await session.ask<{ readonly profile: CpuProfile }>('Profiler.stop')).profile;
  });
}

/** As the text of a `.cpuprofile` file. @throws FeatureError `tooLarge`. */
export function cpuProfileText(profile: CpuProfile): Buffer {
  const text = Buffer.from(JSON.stringify(profile));
  if (text.length <= LARGEST_BYTES) return text;
  const message = `cannot record the processor: found ${text.length} bytes; wanted at most ${LARGEST_BYTES}; record for a shorter time`;
  throw new FeatureError('tooLarge', message);
}

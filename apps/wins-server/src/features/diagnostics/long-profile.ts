import { InspectorSession } from './recording.js';

/** What a profile of a whole run of a program shows: where its time went, or who made what its heap holds. */
export type LongProfileKind = 'cpu' | 'heap';

interface Kind {
  readonly starts: readonly (readonly [method: string, parameters?: object])[];
  readonly stop: string;
  /** When it ends by itself; its text is kept until it is finished. */
  readonly longestMs?: number;
}

const KINDS: Readonly<Record<LongProfileKind, Kind>> = {
  cpu: {
    starts: [
      ['Profiler.enable'],
      // Less often than for a profile of seconds: this one may last, and each look is kept until the end.
      ['Profiler.setSamplingInterval', { interval: 10_000 }],
      ['Profiler.start'],
    ],
    stop: 'Profiler.stop',
    longestMs: 3600 * 1000,
  },
  heap: {
    // One object is remembered for about so many bytes that are made.
    starts: [['HeapProfiler.startSampling', { samplingInterval: 128 * 1024 }]],
    stop: 'HeapProfiler.stopSampling',
  },
};

/** A profile that is being recorded. */
export interface LongProfile extends Disposable {
  /** Ends it and gives its text, a `.cpuprofile` or `.heapprofile`. Once. @throws FeatureError `unavailable`. */
  finish(): Promise<string>;
}

/**
 * Records a profile until it is finished. `cpu` looks each 10 ms, for an hour at most; `heap` samples what is made, one object for about
 * 128 KiB. Both name functions and files alone. Disposing gives it up.
 *
 * @throws FeatureError `unavailable`.
 */
export async function startLongProfile(kind: LongProfileKind): Promise<LongProfile> {
  const { starts, stop, longestMs } = KINDS[kind];
  const session = new InspectorSession(`record the profile ${kind}`);
  try {
    for (const [method, parameters] of starts) await session.ask(method, parameters);
  } catch (error) {
    session[Symbol.dispose]();
    throw error;
  }
  let stopped: Promise<{ readonly profile: unknown }> | undefined;
  const end = () => (stopped ??= session.ask<{ readonly profile: unknown }>(stop));
  const early = (): void => void end().catch(() => undefined);
  const limit = longestMs === undefined ? undefined : setTimeout(early, longestMs).unref();
  return {
    finish: async () => {
      clearTimeout(limit);
      return JSON.stringify((await end()).profile);
    },
    [Symbol.dispose]: () => {
      clearTimeout(limit);
      session[Symbol.dispose]();
    },
  };
}

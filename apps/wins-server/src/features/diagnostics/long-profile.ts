import { InspectorSession } from './recording.js';

/** Subject of a profile of a whole run of a program: its processor time, or the allocations on its heap. */
export type LongProfileKind = 'cpu' | 'heap';

/** A profile of the processor ends by itself then; its text is kept until it is finished. */
const LONGEST_MS = 3600 * 1000;

/**
 * Records a profile until it is finished. `cpu` looks each 10 ms, for an hour at most; `heap` samples what is made, one object for about
 * 128 KiB. Both name functions and files alone. Disposing gives it up.
 *
 * @throws FeatureError `unavailable`.
 */
export async function startLongProfile(kind: LongProfileKind) {
  const isCpu = kind === 'cpu';
  const stop = isCpu ? 'Profiler.stop' : 'HeapProfiler.stopSampling';
  const session = new InspectorSession(`record the profile ${kind}`);
  try {
    if (isCpu) {
      await session.ask('Profiler.enable');
      // Less often than for a profile of seconds: this one may last, and each look is kept until the end.
      await session.ask('Profiler.setSamplingInterval', { interval: 10_000 });
      await session.ask('Profiler.start');
    } else {
      // One object is remembered for about so many bytes that are made.
      await session.ask('HeapProfiler.startSampling', { samplingInterval: 128 * 1024 });
    }
  } catch (error) {
    session[Symbol.dispose]();
    throw error;
  }
  let stopped: Promise<{ readonly profile: unknown }> | undefined;
  const end = () => (stopped ??= session.ask<{ readonly profile: unknown }>(stop));
  const early = (): void => void end().catch(() => undefined);
  const limit = isCpu ? setTimeout(early, LONGEST_MS).unref() : undefined;
  return {
    /** Ends it and gives its text, a `.cpuprofile` or `.heapprofile`. Once. @throws FeatureError `unavailable`. */
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

import { InspectorSession } from './recording.js';

/** Subject of a profile over a whole run of a program: its processor time, or its heap allocations. */
export type LongProfileKind = 'cpu' | 'heap';

/** Maximum duration of a CPU profile, because its samples are kept until the end. */
const LONGEST_MS = 3600 * 1000;

/** `cpu` samples every 10 ms for at most an hour, `heap` once per 128 KiB. Only names of functions and files. @throws FeatureError */
export async function startLongProfile(kind: LongProfileKind) {
  const isCpu = kind === 'cpu';
  const stop = isCpu ? 'Profiler.stop' : 'HeapProfiler.stopSampling';
  const session = new InspectorSession(`record the profile ${kind}`);
  try {
    if (isCpu) {
      await session.ask('Profiler.enable');
      // Longer interval than for short profiles, because this one may last long and keeps each sample until the end.
      await session.ask('Profiler.setSamplingInterval', { interval: 10_000 });
      await session.ask('Profiler.start');
    } else {
      // Average number of allocated bytes per sample.
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
    /** Ends the profile and returns its text, a `.cpuprofile` or `.heapprofile`. Call it once. @throws FeatureError `unavailable`. */
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

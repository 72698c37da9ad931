import { InspectorSession } from './inspector-session.js';

/** What a profile of a whole run of a program shows: where its time went, or who made what its heap holds. */
export type LongProfileKind = 'cpu' | 'heap';

/** Less often than for a profile of seconds: this one may last. */
const INTERVAL_US = 10_000;
/** After so long the processor is not looked at any more: each look is kept until the end. */
const LONGEST_CPU_MS = 3600 * 1000;
/** One object is remembered for about so many bytes that are made. */
const SAMPLED_BYTES = 128 * 1024;

const STARTS: Readonly<Record<LongProfileKind, readonly (readonly [string, object])[]>> = {
  cpu: [
    ['Profiler.enable', {}],
    ['Profiler.setSamplingInterval', { interval: INTERVAL_US }],
    ['Profiler.start', {}],
  ],
  heap: [['HeapProfiler.startSampling', { samplingInterval: SAMPLED_BYTES }]],
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
  const session = new InspectorSession(`record the profile ${kind}`);
  try {
    for (const [method, parameters] of STARTS[kind]) await session.ask(method, parameters);
  } catch (error) {
    session[Symbol.dispose]();
    throw error;
  }
  if (kind === 'heap')
    return {
      finish: async () => JSON.stringify(await stopped(session, 'HeapProfiler.stopSampling')),
      [Symbol.dispose]: () => session[Symbol.dispose](),
    };
  let early: Promise<unknown> | undefined;
  const stop = (): Promise<unknown> => (early ??= stopped(session, 'Profiler.stop'));
  const limit = setTimeout(() => void stop().catch(() => undefined), LONGEST_CPU_MS).unref();
  return {
    finish: async () => {
      clearTimeout(limit);
      return JSON.stringify(await stop());
    },
    [Symbol.dispose]: () => {
      clearTimeout(limit);
      session[Symbol.dispose]();
    },
  };
}

async function stopped(session: InspectorSession, method: string): Promise<unknown> {
  return (await session.ask<{ readonly profile: unknown }>(method)).profile;
}

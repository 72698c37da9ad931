import { messageOf } from '@wins/base';
import { Session } from 'node:inspector';
import { setTimeout as delay } from 'node:timers/promises';
import { FeatureError } from '../../kernel/feature-error.js';

/**
 * Session with the inspector of this process. No port is opened, and nobody else can join. Disposal ends the session and discards its
 * recording.
 * https://chromedevtools.github.io/devtools-protocol/v8/
 */
export class InspectorSession implements Disposable {
  readonly #session = new Session();
  readonly #tried: string;

  constructor(tried: string) {
    this.#tried = tried;
    this.#session.connect();
  }

  /** @throws FeatureError `unavailable` for a method that this Node does not know or refuses. */
  ask<Answer = unknown>(method: string, parameters: object = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#session.post(method, parameters, (error: unknown, answer?: object) => {
        if (error === null) resolve(answer as Answer);
        else reject(this.#failure(method, error));
      });
    });
  }

  on(event: string, told: (parameters: unknown) => void): void {
    this.#session.on(event, (message: { readonly params: unknown }) => told(message.params));
  }

  /** Idempotent. */
  [Symbol.dispose](): void {
    this.#session.disconnect();
    this.#session.removeAllListeners();
  }

  #failure(method: string, cause: unknown): FeatureError {
    // The inspector reports failures as plain objects, not as errors.
    const said =
      cause instanceof Error || typeof cause !== 'object' || cause === null || !('message' in cause)
        ? messageOf(cause)
        : String(cause.message);
    const message = `cannot ${this.#tried}: ${method} failed: ${said}`;
    return new FeatureError('unavailable', message, { cause });
  }
}

export interface RecordOptions {
  /** More than 0, at most 60. */
  readonly seconds: number;
  readonly signal?: AbortSignal | undefined;
}

const LONGEST_SECONDS = 60;
const LARGEST_BYTES = 32 * 1024 * 1024;

/**
 * @param record - Makes the recording. Its second argument waits until the time is over, or until the signal passed to it aborts.
 * @throws FeatureError `invalidArgument` for a duration outside the limits, `unavailable`; the reason of the signal.
 */
async function recorded<Result>(
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

/** CPU profile in the format of `.cpuprofile` files. It contains only names of functions and files, no arguments or strings. */
export interface CpuProfile {
  readonly nodes: readonly CpuProfileNode[];
  readonly samples?: readonly number[];
}

export interface CpuProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    /** Line number, from 0. */
    readonly lineNumber: number;
  };
  readonly hitCount?: number;
  readonly children?: readonly number[];
}

/** Sampling interval in microseconds. */
const INTERVAL_US = 1000;

/**
 * Records a CPU profile. Recording costs a few percent of the thread's time; stopping may block it for some hundred milliseconds.
 * @throws FeatureError; the reason of the signal.
 */
export function recordCpuProfile(options: RecordOptions): Promise<CpuProfile> {
  return recorded('record a CPU profile', options, async (session, wait) => {
    await session.ask('Profiler.enable');
    await session.ask('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    await session.ask('Profiler.start');
    await wait();
    return (await session.ask<{ readonly profile: CpuProfile }>('Profiler.stop')).profile;
  });
}

/** Returns the text of a `.cpuprofile` file. @throws FeatureError `tooLarge`. */
export function cpuProfileText(profile: CpuProfile): Buffer {
  const text = Buffer.from(JSON.stringify(profile));
  if (text.length <= LARGEST_BYTES) return text;
  const message = `cannot record a CPU profile: it has ${text.length} bytes (limit ${LARGEST_BYTES}). Record for a shorter time`;
  throw new FeatureError('tooLarge', message);
}

/** Trace categories: runtime work beside JavaScript, and garbage collection. Most events of promises would slow everything down. */
const CATEGORIES = [
  ...['v8', 'node.perf', 'node.fs.sync', 'node.fs.async', 'node.net.native', 'node.dns.native'],
  ...['node.promises.rejections', 'node.threadpoolwork.sync', 'node.threadpoolwork.async'],
];

/** Trace file (JSON, for Perfetto). At 32 MiB the recording ends early, and its metadata say so. @throws FeatureError */
export function recordTrace(options: RecordOptions): Promise<Buffer[]> {
  return recorded('record a trace', options, async (session, wait) => {
    const events: Buffer[] = [];
    const full = new AbortController();
    let sizeBytes = 0;
    session.on('NodeTracing.dataCollected', (collected) => {
      const { value } = collected as { readonly value: readonly unknown[] };
      if (full.signal.aborted || value.length === 0) return;
      const text = Buffer.from(value.map((event) => JSON.stringify(event)).join(',\n'));
      sizeBytes += text.length;
      if (sizeBytes > LARGEST_BYTES) full.abort();
      else events.push(text);
    });
    const complete = new Promise<void>((resolve) =>
      session.on('NodeTracing.tracingComplete', () => resolve()),
    );
    await session.ask('NodeTracing.start', { traceConfig: { includedCategories: CATEGORIES } });
    try {
      await wait(full.signal);
    } finally {
      await session.ask('NodeTracing.stop');
      await complete;
    }
    const ended = full.signal.aborted ? 'size' : 'time';
    const joined = events.flatMap((text, index) => (index === 0 ? [text] : [COMMA, text]));
    return [
      Buffer.from('{"traceEvents":[\n'),
      ...joined,
      Buffer.from(`\n],"metadata":{"ended":"${ended}"}}\n`),
    ];
  });
}

const COMMA = Buffer.from(',\n');

/** Subject of a profile over the whole life of a process: processor time, or heap allocations. */
export type LongProfileKind = 'cpu' | 'heap';

/** Maximum duration of a CPU profile; its samples stay in memory until the end. */
const LONGEST_MS = 3600 * 1000;

/**
 * Starts a profile: `cpu` samples every 10 ms for at most an hour, `heap` once per 128 KiB. It names only functions and files. @throws FeatureError
 */
export async function startLongProfile(kind: LongProfileKind) {
  const isCpu = kind === 'cpu';
  const stop = isCpu ? 'Profiler.stop' : 'HeapProfiler.stopSampling';
  const session = new InspectorSession(`record the profile ${kind}`);
  try {
    if (isCpu) {
      await session.ask('Profiler.enable');
      // Longer interval than for short profiles, because this profile may last an hour and keeps each sample until the end.
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
    /** Ends the profile and returns its text, a `.cpuprofile` or `.heapprofile`. Call this only once. @throws FeatureError `unavailable`. */
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

import { Session } from 'node:inspector';
import { setTimeout as delay } from 'node:timers/promises';
import { FeatureError } from '../../kernel/feature-error.js';

/**
 * Inspects this process. Opens no port, so nobody else can join. Disposal discards a recording that is in progress.
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
      this.#session.post(method, parameters, (cause, answer?: object) => {
        if (cause === null) {
          resolve(answer as Answer);
          return;
        }
        // In some releases of Node this is no error, but has a message, too.
        const message = `cannot ${this.#tried}: ${method} failed: ${cause.message}`;
        reject(new FeatureError('unavailable', message, { cause }));
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
}

export interface RecordOptions {
  /** More than 0, at most 60. */
  readonly seconds: number;
  readonly signal?: AbortSignal | undefined;
}

const LONGEST_SECONDS = 60;
const LARGEST_BYTES = 32 * 1024 * 1024;

/**
 * @param record - Makes the recording. Its argument `wait` resolves after `seconds`, or when `enough` aborts. If `signal` aborts, `wait` rejects.
 * @throws FeatureError `unavailable`; `invalidArgument` for a duration outside the limits; the signal's reason after an abort.
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

/** Format of `.cpuprofile` files. It contains names of functions and files, but no arguments or strings. */
export interface CpuProfile {
  readonly nodes: readonly CpuProfileNode[];
  readonly samples?: readonly number[];
}

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

const INTERVAL_US = 1000;

/**
 * Recording costs a few percent of the thread's time; stopping may block the thread for up to 100 ms.
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

/** @throws FeatureError `tooLarge`. */
export function cpuProfileText(profile: CpuProfile): Buffer {
  const text = Buffer.from(JSON.stringify(profile));
  if (text.length <= LARGEST_BYTES) return text;
  const message = `cannot record a CPU profile: it has ${text.length} bytes (limit ${LARGEST_BYTES}). Record for a shorter time`;
  throw new FeatureError('tooLarge', message);
}

/** Omits most promise events, because recording them would slow down the daemon. */
const CATEGORIES = [
  'v8',
  'node.perf',
  'node.fs.sync',
  'node.fs.async',
  'node.net.native',
  'node.dns.native',
  'node.promises.rejections',
  'node.threadpoolwork.sync',
  'node.threadpoolwork.async',
];

/** Returns JSON for Perfetto. At 32 MiB the recording ends early, and its metadata say so. @throws FeatureError */
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

export type LongProfileKind = 'cpu' | 'heap';

/** CPU profiles end after this, because their samples stay in memory until the end. */
const LONGEST_MS = 3600 * 1000;

/** `cpu` samples every 10 ms for at most an hour, `heap` once per 128 KiB of allocations. @throws FeatureError */
export async function startLongProfile(kind: LongProfileKind) {
  const isCpu = kind === 'cpu';
  const stop = isCpu ? 'Profiler.stop' : 'HeapProfiler.stopSampling';
  const session = new InspectorSession(`record the profile ${kind}`);
  try {
    if (isCpu) {
      await session.ask('Profiler.enable');
      // Longer than INTERVAL_US, because the samples of up to an hour stay in memory.
      await session.ask('Profiler.setSamplingInterval', { interval: 10_000 });
      await session.ask('Profiler.start');
    } else {
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
    /** Returns the text of a `.cpuprofile` or `.heapprofile`. Call this only once. @throws FeatureError `unavailable`. */
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

import { LARGEST_BYTES, recorded, type RecordOptions } from './recording.js';

/** What the runtime does beside JavaScript, and when it collects garbage. Those of each promise would slow everything down. */
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

/**
 * Records the events of Node and V8 as a file of trace events (JSON, for Perfetto or chrome://tracing). It costs some microseconds an
 * event; when there are 32 MiB of them it ends before its time, and its metadata say so.
 *
 * @throws FeatureError `invalidArgument`, `unavailable`, as while another trace is recorded; the reason of the signal.
 */
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

import { randomBytes } from 'node:crypto';

import fc from 'fast-check';

import type { OutputPart } from './output-log.js';
import { ProcessOutput, type LogReader } from './process-output.js';

const KIB = 1024;
const MIB = 1024 * KIB;

class Source {
  paused = false;
  pause = () => {
    this.paused = true;
  };
  resume = () => {
    this.paused = false;
  };
}

function drain(reader: LogReader): OutputPart[] {
  const chunks: OutputPart[] = [];
  for (let chunk = reader.take(); chunk !== undefined; chunk = reader.take()) chunks.push(chunk);
  return chunks;
}

function bytesOf(chunks: readonly OutputPart[], stream: 'stdout' | 'stderr'): Buffer {
  return Buffer.concat(chunks.flatMap((c) => (c.stream === stream ? [c.bytes] : [])));
}

function skippedOf(chunks: readonly OutputPart[]): number {
  return chunks.reduce((sum, c) => sum + (c.stream === 'skipped' ? c.bytes : 0), 0);
}

describe('ProcessOutput', () => {
  let source: Source;

  beforeEach(() => {
    source = new Source();
  });

  const isPaused = () => source.paused;

  it('keeps the newest megabyte when nobody reads, and never pauses the child', () => {
    const output = new ProcessOutput(MIB, source);
    output.stopHolding();
    const all = randomBytes(3 * MIB);
    for (let at = 0; at < all.length; at += 50_000) {
      output.append('stdout', all.subarray(at, at + 50_000));
    }
    expect(source.paused).toBe(false);
    expect(output.bufferedBytes).toBeLessThanOrEqual(MIB + 64 * KIB);
    const chunks = drain(output.read());
    const kept = bytesOf(chunks, 'stdout');
    expect(kept.length).toBeGreaterThanOrEqual(MIB);
    expect(kept.equals(all.subarray(-kept.length))).toBe(true);
    expect(chunks[0]).toEqual({ stream: 'skipped', offset: 0, bytes: all.length - kept.length });
  });

  it('holds the first output for the first reader: the child waits and nothing is lost', () => {
    const output = new ProcessOutput(MIB, source);
    let written = 0;
    for (; !source.paused; written += 1) output.append('stdout', Buffer.alloc(64 * KIB, written));
    expect(written).toBe(16);
    const chunks = drain(output.read());
    expect(skippedOf(chunks)).toBe(0);
    expect(bytesOf(chunks, 'stdout').length).toBe(MIB);
    expect(isPaused()).toBe(false);
  });

  it('lets a child go on that waited for a first reader who never came', () => {
    const output = new ProcessOutput(MIB, source);
    while (!source.paused) output.append('stdout', Buffer.alloc(64 * KIB));
    output.stopHolding();
    expect(isPaused()).toBe(false);
  });

  it('pauses the child for the slowest reader, loses nothing, and resumes when it reads on', () => {
    const output = new ProcessOutput(MIB, source);
    const slow = output.read();
    const fast = output.read();
    let written = 0;
    const fill = () => {
      while (!source.paused) {
        output.append('stdout', Buffer.alloc(64 * KIB, written & 255));
        written += 1;
        drain(fast);
      }
    };
    fill();
    expect(written).toBe(16);
    drain(slow);
    expect(source.paused).toBe(false);
    fill();
    expect(skippedOf(drain(slow))).toBe(0);
  });

  it('pauses again when somebody else has resumed the pipes', () => {
    const output = new ProcessOutput(MIB, source);
    output.read();
    while (!isPaused()) output.append('stdout', Buffer.alloc(64 * KIB));
    source.resume();
    output.append('stdout', Buffer.alloc(64 * KIB));
    expect(source.paused).toBe(true);
  });

  it('resumes a paused child in drop mode when the last reader leaves', () => {
    const output = new ProcessOutput(MIB, source);
    const reader = output.read();
    while (!source.paused) output.append('stdout', Buffer.alloc(64 * KIB));
    reader.close();
    expect(source.paused).toBe(false);
    for (let i = 0; i < 100; i += 1) output.append('stdout', Buffer.alloc(64 * KIB));
    expect(source.paused).toBe(false);
    expect(output.bufferedBytes).toBeLessThanOrEqual(MIB + 64 * KIB);
  });

  it('shares its blocks: a hundred stalled readers hold no more than one (F5)', () => {
    const output = new ProcessOutput(MIB, source);
    const readers = Array.from({ length: 100 }, () => output.read());
    while (!source.paused) output.append('stdout', randomBytes(64 * KIB));
    expect(output.bufferedBytes).toBe(MIB);
    const [first, ...others] = readers.map((reader) => reader.take());
    for (const chunk of others) {
      expect(Buffer.isBuffer(chunk?.bytes) && chunk.bytes.buffer).toBe(
        Buffer.isBuffer(first?.bytes) && first.bytes.buffer,
      );
    }
  });

  it('bounds memory, not only bytes, when a child alternates single bytes on both streams', () => {
    const output = new ProcessOutput(64 * KIB, source);
    output.stopHolding();
    for (let i = 0; i < 10_000; i += 1) output.append(i % 2 ? 'stdout' : 'stderr', Buffer.of(i));
    expect(output.bufferedBytes).toBeLessThanOrEqual(64 * KIB + 512);
    const reader = output.read();
    drain(reader);
    let appended = 0;
    for (; !source.paused; appended += 1) {
      output.append(appended % 2 ? 'stdout' : 'stderr', Buffer.of(1));
    }
    expect(appended).toBeLessThanOrEqual(129);
  });

  it('gathers small writes of one stream and never gives more than 64 KiB at once', () => {
    const output = new ProcessOutput(MIB, source);
    for (let i = 0; i < 5000; i += 1) output.append('stdout', Buffer.from('0123456789'));
    output.append('stdout', Buffer.alloc(200_000, 'x'));
    const sizes = drain(output.read()).map((chunk) => Buffer.byteLength(String(chunk.bytes)));
    expect(sizes.length).toBeLessThan(8);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * KIB);
  });

  it('does not change bytes that a reader holds when later ones are gathered beside them', () => {
    const output = new ProcessOutput(MIB, source);
    const reader = output.read();
    const held: OutputPart[] = [];
    for (let i = 0; i < 2000; i += 1) {
      output.append('stdout', Buffer.from(`${i}\n`));
      held.push(...drain(reader));
    }
    const expected = Array.from({ length: 2000 }, (_, i) => `${i}\n`).join('');
    expect(bytesOf(held, 'stdout').toString()).toBe(expected);
  });

  it('tells a waiting reader once per wait, and at the end', async () => {
    const output = new ProcessOutput(MIB, source);
    const reader = output.read();
    output.append('stdout', Buffer.from('a'));
    expect(await reader.next()).toMatchObject({ offset: 0, bytes: Buffer.from('a') });
    const next = reader.next();
    output.append('stdout', Buffer.from('b'));
    output.append('stdout', Buffer.from('c'));
    expect(await next).toMatchObject({ offset: 1, bytes: Buffer.from('bc') });
    expect(reader.ended).toBe(false);
    const last = reader.next();
    output.close();
    expect(await last).toBeUndefined();
    expect(reader.ended).toBe(true);
  });

  it('stays readable after the end, for readers that attach late', () => {
    const output = new ProcessOutput(MIB, source);
    output.append('stderr', Buffer.from('late'));
    output.close();
    output.append('stderr', Buffer.from('ignored'));
    const reader = output.read();
    expect(reader.ended).toBe(false);
    expect(bytesOf(drain(reader), 'stderr').toString()).toBe('late');
    expect(reader.ended).toBe(true);
  });

  it('can be iterated, and the iteration detaches when its signal aborts or the loop breaks', async () => {
    const output = new ProcessOutput(64 * KIB, source);
    const abort = new AbortController();
    output.append('stdout', Buffer.from('one'));
    const seen: string[] = [];
    for await (const chunk of output.read({ signal: abort.signal })) {
      seen.push(String(chunk.bytes));
      if (seen.length === 1) output.append('stdout', Buffer.from('two'));
      else abort.abort();
    }
    expect(seen).toEqual(['one', 'two']);
    for await (const chunk of output.read()) {
      expect(String(chunk.bytes)).toBe('onetwo');
      break;
    }
    const aborted = output.read({ signal: abort.signal });
    expect([aborted.ended, aborted.take()]).toEqual([true, undefined]);
    // If a reader were still attached, this output would pause the child.
    for (let i = 0; i < 10; i += 1) output.append('stdout', Buffer.alloc(64 * KIB));
    expect(source.paused).toBe(false);
  });

  it('reads what is left without waiting for readers, up to an allowance', () => {
    const output = new ProcessOutput(MIB, source);
    const reader = output.read();
    while (!source.paused) output.append('stdout', Buffer.alloc(64 * KIB));
    output.finish();
    let appended = 0;
    for (; !isPaused(); appended += 1) output.append('stdout', Buffer.alloc(64 * KIB));
    expect(appended).toBe(32);
    expect(output.bufferedBytes).toBe(3 * MIB);
    expect(bytesOf(drain(reader), 'stdout')).toHaveLength(3 * MIB);
  });

  it('gives every reader every byte in order per stream, however writes and reads interleave', () => {
    const step = fc.oneof(
      fc.record({
        stream: fc.constantFrom('stdout', 'stderr'),
        size: fc.oneof(fc.nat(20), fc.nat(200_000)),
      }),
      fc.record({ read: fc.nat(2), times: fc.nat(5) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const own = new Source();
        const output = new ProcessOutput(128 * KIB, own);
        const readers = [0, 1, 2].map(() => output.read());
        const written = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
        const read: OutputPart[][] = [[], [], []];
        for (const s of steps) {
          if ('size' in s) {
            if (own.paused) continue;
            const bytes = randomBytes(s.size);
            written[s.stream].push(bytes);
            output.append(s.stream, Buffer.from(bytes));
          } else {
            for (let i = 0; i < s.times; i += 1) {
              const chunk = readers[s.read]?.take();
              if (chunk !== undefined) read[s.read]?.push(chunk);
            }
          }
        }
        output.close();
        readers.forEach((reader, index) => {
          const chunks = [...(read[index] ?? []), ...drain(reader)];
          expect(reader.ended).toBe(true);
          expect(skippedOf(chunks)).toBe(0);
          for (const stream of ['stdout', 'stderr'] as const) {
            expect(bytesOf(chunks, stream).equals(Buffer.concat(written[stream]))).toBe(true);
          }
        });
        expect(own.paused).toBe(false);
      }),
      { numRuns: 60 },
    );
  });
});

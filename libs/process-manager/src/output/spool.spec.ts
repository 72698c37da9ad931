import fc from 'fast-check';
import {
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { OutputPart, OutputReader, OutputReadOptions } from './output-log.js';
import {
  decodeFrame,
  encodeFileHeader,
  FrameBatch,
  HEADER_BYTES,
  MAX_FRAME_BYTES,
  type SpoolFrame,
} from './spool-frame.js';
import { Spool, type SpoolOptions } from './spool.js';
import { SpoolWriter } from './spool-writer.js';

const MIB = 1024 * 1024;

function encodeBatches(pieces: readonly SpoolFrame[], spaceBytes: number): Buffer[] {
  const encoded: Buffer[] = [];
  let batch = new FrameBatch(Buffer.alloc(spaceBytes, 0xff));
  for (const piece of pieces)
    for (let from = 0; from < piece.bytes.length;) {
      const [offset, bytes] = [piece.offset + from, piece.bytes.subarray(from)];
      from += batch.add({ ...piece, offset, bytes });
      if (from === piece.bytes.length) continue;
      encoded.push(batch.encoded());
      batch = new FrameBatch(Buffer.alloc(spaceBytes, 0xff));
    }
  return [...encoded, batch.encoded()];
}

function encodeFrames(pieces: readonly SpoolFrame[]): Buffer {
  return Buffer.concat(encodeBatches(pieces, MIB));
}

describe('a spool', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'spool-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function written(chunks: readonly (readonly [0 | 1, Buffer])[], maxBytes = MIB) {
    const writer = new SpoolWriter({ folder, maxBytes });
    for (const [stream, bytes] of chunks) {
      writer.append(stream === 0 ? 'stdout' : 'stderr', bytes, 1000);
      // Writes some chunks together, and others alone.
      if (bytes.length % 3 === 0) await turn();
    }
    await writer.close();
    return writer;
  }
  async function parts(options: SpoolOptions & OutputReadOptions = {}): Promise<OutputPart[]> {
    const found: OutputPart[] = [];
    for await (const part of new Spool(folder, options).read(options))
      found.push(part.stream === 'skipped' ? part : { ...part, bytes: Buffer.from(part.bytes) });
    return found;
  }
  const textOf = (found: readonly OutputPart[], stream?: 'stdout' | 'stderr'): string =>
    Buffer.concat(
      found.flatMap((part) =>
        part.stream !== 'skipped' && (stream ?? part.stream) === part.stream ? [part.bytes] : [],
      ),
    ).toString('latin1');
  const tailOffset = (lines: number): Promise<number> => new Spool(folder).read({ lines }).begin();
  const sizeOnDisk = (): number =>
    readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
  const fileNames = (): string[] => readdirSync(folder).sort();

  const chunk = fc.tuple(
    fc.constantFrom<0 | 1>(0, 1),
    fc.uint8Array({ minLength: 1, maxLength: 5000 }).map((bytes) => Buffer.from(bytes)),
  );

  it('gives back both outputs, byte for byte and from any offset, while it is within its bound', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(chunk, { maxLength: 30 }),
        fc.nat(160_000),
        async (chunks, from) => {
          rmSync(folder, { recursive: true });
          folder = mkdtempSync(path.join(tmpdir(), 'spool-'));
          const { offset } = await written(chunks);
          const all = Buffer.concat(chunks.map(([, bytes]) => bytes));
          expect(offset).toBe(all.length);
          const found = await parts({ offset: from, end: () => offset });
          expect(textOf(found)).toBe(all.subarray(from).toString('latin1'));
          for (const [index, stream] of (['stdout', 'stderr'] as const).entries()) {
            const expected = chunks.filter(([each]) => each === index).map(([, bytes]) => bytes);
            expect(textOf(await parts(), stream)).toBe(Buffer.concat(expected).toString('latin1'));
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('goes on where another writer ended, also behind a torn frame, within its bytes and its files', async () => {
    const attempt = async (from: number, bytes: Buffer, maxBytes = MIB): Promise<number> => {
      const writer = new SpoolWriter({ folder, maxBytes, from });
      writer.append('stdout', bytes);
      await writer.close();
      return writer.offset;
    };
    let offset = (await written([[0, Buffer.from('first\n')]])).offset;
    const [torn = ''] = fileNames();
    truncateSync(path.join(folder, torn), statSync(path.join(folder, torn)).size - 1);
    for (const text of ['second\n', 'third\n']) offset = await attempt(offset, Buffer.from(text));
    const found = await parts({ end: () => offset });
    expect(textOf(found)).toBe('second\nthird\n');
    expect(found[0]).toEqual({ stream: 'skipped', offset: 0, bytes: 6 });
    for (let each = 0; each < 100; each += 1)
      offset = await attempt(offset, Buffer.from('again\n'));
    expect(fileNames()).toHaveLength(64);
    offset = await attempt(offset, Buffer.alloc(MIB / 2), MIB / 2);
    expect(sizeOnDisk()).toBeLessThanOrEqual(MIB / 2);
  });

  it('stays within its limit, loses only the oldest output, and reports how much', async () => {
    const chunks = Array.from(
      { length: 400 },
      (_, index) => [index % 2 === 0 ? 0 : 1, Buffer.alloc(10_000, index)] as const,
    );
    const { offset } = await written(chunks, MIB);
    expect(sizeOnDisk()).toBeLessThanOrEqual(MIB);
    const found = await parts({ end: () => offset });
    const [first] = found;
    if (first?.stream !== 'skipped') throw new Error('nothing was dropped');
    const all = Buffer.concat(chunks.map(([, bytes]) => bytes)).toString('latin1');
    expect(textOf(found)).toBe(all.slice(first.bytes));
    expect(found.filter(({ stream }) => stream === 'skipped')).toHaveLength(1);
    // The dropped files leave less than 3/16 of the size limit unused.
    expect(sizeOnDisk()).toBeGreaterThan((MIB * 13) / 16);
  });

  it('has in a file what the end of a crash left whole, and no more', async () => {
    await written([
      [0, Buffer.from('first\n')],
      [1, Buffer.from('second\n')],
    ]);
    const file = path.join(folder, fileNames()[0] ?? '');
    const whole = statSync(file).size;
    for (let size = whole - 1; size > whole - HEADER_BYTES - 7; size -= 1) {
      truncateSync(file, size);
      expect(textOf(await parts())).toBe('first\n');
    }
  });

  it('tells what was lost at its end', async () => {
    await written([[0, Buffer.from('some')]]);
    expect(await parts({ end: () => 10 })).toMatchObject([
      { stream: 'stdout', offset: 0 },
      { stream: 'skipped', offset: 4, bytes: 6 },
    ]);
  });

  it('may contain any bytes: a reader ends, and trusts no length', async () => {
    const frames = Buffer.concat([
      encodeFileHeader(3),
      ...['a', 'bc', 'def'].map((text, index) =>
        encodeFrames([
          { stream: 'stdout', offset: index * 3, timeMs: 5, bytes: Buffer.from(text) },
        ]),
      ),
    ]);
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 400 }),
        fc.array(fc.tuple(fc.nat(2000), fc.nat(255)), { maxLength: 8 }),
        async (noise, changes) => {
          const bytes = Buffer.concat([frames, noise]);
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
          writeFileSync(path.join(folder, 'spool.000000000000000.bin'), bytes);
          for (const part of await parts({ end: () => 1000 }))
            expect(part.stream === 'skipped' || part.bytes.length <= MAX_FRAME_BYTES).toBe(true);
          await tailOffset(3);
          await parts({ sinceMs: 4 });
        },
      ),
      { numRuns: 200 },
    );
  });

  it('fills up frames with what comes at the same time from the same stream', () => {
    const sizes = fc.array(fc.tuple(fc.boolean(), fc.nat(2), fc.integer({ min: 1, max: 65536 })));
    fc.assert(
      fc.property(sizes, fc.integer({ min: 2000, max: 300_000 }), (found, spaceBytes) => {
        let offset = 9;
        const pieces = found.map(([isError, timeMs, length], index) => {
          const piece = { timeMs, offset, bytes: Buffer.alloc(length, index + 1) };
          offset += length;
          return { ...piece, stream: isError ? ('stderr' as const) : ('stdout' as const) };
        });
        const seen: string[] = [];
        let next = 9;
        for (const bytes of encodeBatches(pieces, spaceBytes)) {
          let [at, before, isFull] = [0, '', true];
          while (at < bytes.length) {
            const frame = decodeFrame(bytes, at);
            if (frame === undefined) throw new Error('found no whole frame');
            expect(frame.offset).toBe(next);
            const kind = `${frame.stream} ${frame.timeMs}`;
            expect(isFull || kind !== before).toBe(true);
            [before, isFull] = [kind, frame.bytes.length === MAX_FRAME_BYTES];
            seen.push(frame.bytes.toString('latin1'));
            next += frame.bytes.length;
            at += HEADER_BYTES + frame.bytes.length;
          }
        }
        const wanted = Buffer.concat(pieces.map((piece) => piece.bytes)).toString('latin1');
        expect(seen.join('') === wanted).toBe(true);
      }),
    );
  });

  it('detects the change of a single bit in any frame', () => {
    const bytes = Buffer.from('some output');
    const frame = encodeFrames([{ stream: 'stderr', offset: 7, timeMs: 5, bytes }]);
    expect(decodeFrame(frame, 0)).toEqual({ stream: 'stderr', offset: 7, timeMs: 5, bytes });
    for (let bit = 0; bit < frame.length * 8; bit += 1) {
      const changed = Buffer.from(frame);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(decodeFrame(changed, 0)).toBeUndefined();
    }
  });

  it('is followed while it is written, and loses nothing where one file follows another', async () => {
    const all = Array.from({ length: 300 }, (_, index) => `${index} ${'x'.repeat(700)}\n`);
    let wake = (): void => undefined;
    let end: number | undefined = undefined;
    const writer = new SpoolWriter({ folder, maxBytes: 2 * MIB, onWritten: () => wake() });
    const following = parts({
      end: () => end,
      more: () => new Promise<void>((resolve) => (wake = resolve)),
    });
    for (const line of all) {
      writer.append('stdout', Buffer.from(line));
      await turn();
    }
    await writer.close();
    end = writer.offset;
    wake();
    expect(textOf(await following)).toBe(all.join(''));
    expect(fileNames().length).toBeGreaterThan(1);
  });

  it('gives the output since a time alone, and misses nothing before it', async () => {
    const writer = new SpoolWriter({ folder, maxBytes: MIB });
    for (const [index, text] of ['one', 'two', 'three'].entries())
      writer.append('stdout', Buffer.from(text), 1000 + index);
    await writer.close();
    const found = await parts({ sinceMs: 1001, end: () => writer.offset });
    expect(textOf(found)).toBe('twothree');
    expect(found.filter(({ stream }) => stream === 'skipped')).toEqual([]);
  });

  it('gives the last lines, as many as there are, with or without an end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^[a-c\n]{1,40}$/), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 0, max: 12 }),
        async (texts, lines) => {
          rmSync(folder, { recursive: true });
          folder = mkdtempSync(path.join(tmpdir(), 'spool-'));
          await written(texts.map((text) => [0, Buffer.from(text)] as const));
          const all = texts.join('');
          const expected = all.match(/[^\n]*\n|[^\n]+$/g)?.slice(-lines || all.length + 1) ?? [];
          const offset = await tailOffset(lines);
          expect(all.slice(offset)).toBe(lines === 0 ? '' : expected.join(''));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('begins the last lines in an earlier file when the last has too few', async () => {
    const line = `${'y'.repeat(50_000)}\n`;
    await written(Array.from({ length: 12 }, () => [0, Buffer.from(line)] as const));
    expect(fileNames().length).toBeGreaterThan(3);
    expect(await tailOffset(5)).toBe(7 * line.length);
  });

  it('finds a time in a spool of many files and attempts, whatever its clock did', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 20 }), fc.boolean()), { maxLength: 25 }),
        fc.integer({ min: 1, max: 21 }),
        async (times, sinceMs) => {
          rmSync(folder, { recursive: true });
          folder = mkdtempSync(path.join(tmpdir(), 'spool-'));
          let writer = new SpoolWriter({ folder, maxBytes: 4 * MIB });
          for (const [index, [timeMs, isNew]] of times.entries()) {
            writer.append('stdout', Buffer.alloc(60_000, index), timeMs);
            if (!isNew) continue;
            await writer.close();
            writer = new SpoolWriter({ folder, maxBytes: 4 * MIB, from: writer.offset });
          }
          await writer.close();
          const first = times.findIndex(([timeMs]) => timeMs >= sinceMs);
          const expected = first < 0 ? times.length : first;
          expect(await new Spool(folder).read({ sinceMs }).begin()).toBe(expected * 60_000);
        },
      ),
      { numRuns: 60 },
    );
  });

  describe('full of line ends', () => {
    const line = Buffer.alloc(MIB, '\n');
    beforeEach(async () => {
      const writer = new SpoolWriter({ folder, maxBytes: 64 * MIB });
      for (let count = 0; count < 40; count += 1) {
        writer.append('stdout', line);
        while (writer.isBehind) await turn();
      }
      await writer.close();
    });

    it.each<[string, OutputReadOptions]>([
      ['for more last lines than there are', { lines: 4e9 }],
      ['for a time to come', { sinceMs: 2 ** 45 }],
      ['for its end', { offset: 2 ** 50 }],
    ])('is searched %s in short turns, and in a part of its files', async (_what, options) => {
      let turns = 0;
      const reader = new Spool(folder, {
        search: (_signal, search) =>
          search((work) => {
            turns += 1;
            work();
            return Promise.resolve();
          }),
      }).read(options);
      await reader.begin();
      reader.close();
      // A turn has 64 KiB; half of the spool is not looked at.
      expect(turns).toBeGreaterThan(10);
      expect(turns).toBeLessThan((24 * MIB) / MAX_FRAME_BYTES);
    });

    it('is searched no further once the reader has left', async () => {
      let turns = 0;
      const gone = new AbortController();
      const reader = new Spool(folder, {
        search: (_signal, search) =>
          search((work) => {
            if ((turns += 1) === 3) gone.abort();
            work();
            return Promise.resolve();
          }),
      }).read({ lines: 4e9, signal: gone.signal });
      expect(await reader.next()).toBeUndefined();
      expect(turns).toBe(3);
    });

    it('is held in memory by waiting readers a few pieces each, and by resting ones not at all', async () => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const readers = Array.from({ length: 16 }, () => new Spool(folder).read());
      const buffers: WeakRef<ArrayBufferLike>[] = [];
      let taken = 0;
      const take = async (reader: OutputReader): Promise<void> => {
        const part = await reader.next();
        if (part === undefined || part.stream === 'skipped') throw new Error('output is missing');
        buffers.push(new WeakRef(part.bytes.buffer));
        taken = part.offset + part.bytes.length;
      };
      const heldBytes = async (): Promise<number> => {
        await turn();
        collect();
        const held = new Set(buffers.map((buffer) => buffer.deref()));
        return [...held].reduce((sum, buffer) => sum + (buffer?.byteLength ?? 0), 0);
      };
      for (const reader of readers) for (let count = 0; count < 20; count += 1) await take(reader);
      const held = await heldBytes();
      expect(held).toBeGreaterThan(0);
      expect(held).toBeLessThan(readers.length * 5 * MAX_FRAME_BYTES);
      for (const reader of readers) reader.rest();
      expect(await heldBytes()).toBe(0);
      for (const reader of readers) {
        expect((await reader.next())?.offset).toBe(taken);
        reader.close();
      }
    });
  });

  it('loses what a full disk does not take, goes on when there is room, and tells how much is missing', async () => {
    // A folder has the name of the first file, so every write fails, as on a full disk.
    const blocked = path.join(folder, 'spool.000000000000000.bin');
    mkdirSync(blocked);
    const writer = new SpoolWriter({ folder, maxBytes: MIB });
    writer.append('stdout', Buffer.from('lost'));
    await writer.close();
    rmSync(blocked, { recursive: true });
    let size = 0;
    // After a disk error the writer pauses for a moment.
    while (size === 0) {
      writer.append('stdout', Buffer.from('kept'));
      await writer.close();
      size = sizeOnDisk();
    }
    const found = await parts({ end: () => writer.offset });
    expect(found).toMatchObject([
      { stream: 'skipped', bytes: writer.offset - 4 },
      { stream: 'stdout' },
    ]);
    expect(textOf(found)).toBe('kept');
  });

  it('says that it is behind when the disk does not follow, and when it has caught up', async () => {
    let caughtUp = 0;
    const writer = new SpoolWriter({
      folder,
      maxBytes: 64 * MIB,
      onCaughtUp: () => (caughtUp += 1),
    });
    for (let index = 0; index < 100; index += 1) writer.append('stdout', Buffer.alloc(64 * 1024));
    expect(writer.isBehind).toBe(true);
    await writer.close();
    expect([writer.isBehind, caughtUp]).toEqual([false, 1]);
  });

  it('is private', async () => {
    await written([[0, Buffer.from('secret')]]);
    const file = path.join(folder, fileNames()[0] ?? '');
    expect(statSync(file).mode & (constants.S_IRWXG | constants.S_IRWXO)).toBe(0);
    expect(readFileSync(file).includes('secret')).toBe(true);
  });
});

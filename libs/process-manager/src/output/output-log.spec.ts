import fc from 'fast-check';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  behindLineEnd,
  countLineEnds,
  type OutputPart,
  type OutputReadOptions,
  type OutputStream,
} from './output-log.js';
import { Spool, type SpoolReader } from './spool.js';
import { SpoolWriter } from './spool-writer.js';

type Piece = readonly [stream: OutputStream, text: string, timeMs: number];

async function textOf(parts: AsyncIterable<OutputPart>): Promise<string> {
  let text = '';
  for await (const { stream, offset, bytes } of parts)
    text += Buffer.isBuffer(bytes) ? bytes.toString() : `<${stream} ${bytes} at ${offset}>`;
  return text;
}

describe('the output of a run, kept on disk,', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'output-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function readerOf(
    pieces: readonly Piece[],
  ): Promise<(options: OutputReadOptions) => SpoolReader> {
    const writer = new SpoolWriter({ folder, maxBytes: 1024 * 1024 });
    for (const [stream, text, timeMs] of pieces) writer.append(stream, Buffer.from(text), timeMs);
    await writer.close();
    const spool = new Spool(folder, { end: () => writer.offset });
    return (options) => spool.read(options);
  }

  const PIECES: readonly Piece[] = [
    ['stdout', 'one\n', 1000],
    ['stderr', 'bad\n', 2000],
    ['stdout', 'two\nthree\n', 3000],
    ['stderr', 'worse\n', 4000],
    ['stdout', 'four', 5000],
  ];

  it.each<[string, OutputReadOptions, string]>([
    ['whole', {}, 'one\nbad\ntwo\nthree\nworse\nfour'],
    ['from an offset', { offset: 6 }, 'd\ntwo\nthree\nworse\nfour'],
    ['from its last lines', { lines: 3 }, 'three\nworse\nfour'],
    ['from its end', { lines: 0 }, ''],
    ['from more lines than it has', { lines: 99 }, 'one\nbad\ntwo\nthree\nworse\nfour'],
    ['of one stream', { only: 'stderr' }, 'bad\nworse\n'],
    ['from the last lines of one stream', { only: 'stderr', lines: 1 }, 'worse\n'],
    ['from the last lines of the other stream', { only: 'stdout', lines: 2 }, 'three\nfour'],
    ['since a time', { sinceMs: 3000 }, 'two\nthree\nworse\nfour'],
    ['since a time after its last', { sinceMs: 9000 }, ''],
    [
      'since a time, and from the last lines',
      { sinceMs: 3000, lines: 99 },
      'two\nthree\nworse\nfour',
    ],
    ['from the last lines, and since a time', { sinceMs: 1, lines: 1 }, 'four'],
  ])('is read %s', async (_how, options, expected) => {
    const read = await readerOf(PIECES);
    expect(await textOf(read(options))).toBe(expected);
    const reader = read(options);
    for await (const { offset } of reader)
      expect(offset).toBeGreaterThanOrEqual(options.offset ?? 0);
  });

  it('is read to its end after a clock was set back: a time decides only where reading begins', async () => {
    const read = await readerOf([
      ['stdout', 'early\n', 1000],
      ['stderr', 'begin\n', 9000],
      ['stdout', 'set back\n', 2000],
      ['stderr', 'goes on\n', 2500],
    ]);
    expect(await textOf(read({ sinceMs: 5000 }))).toBe('begin\nset back\ngoes on\n');
  });

  it('gives nothing more once its signal aborts', async () => {
    const read = await readerOf(PIECES);
    const gone = new AbortController();
    const reader = read({ signal: gone.signal });
    expect(await reader.next()).toMatchObject({ stream: 'stdout', offset: 0 });
    gone.abort();
    expect(await reader.next()).toBeUndefined();
  });
});

it('line ends are counted in any bytes, at any place in memory', () => {
  const bytes = fc.uint8Array({ maxLength: 70 }).map((each) => each.map((byte) => byte & 0x8f));
  fc.assert(
    fc.property(bytes, fc.nat(7), (found, from) => {
      const text = Buffer.from(found).subarray(Math.min(from, found.length));
      const expected = [...text].filter((byte) => byte === 0x0a).length;
      expect(countLineEnds(text)).toBe(expected);
      expect(behindLineEnd(text, expected + 1)).toBeUndefined();
      if (expected > 0) expect(behindLineEnd(text, expected)).toBe(text.lastIndexOf(0x0a) + 1);
    }),
    { numRuns: 2000 },
  );
});

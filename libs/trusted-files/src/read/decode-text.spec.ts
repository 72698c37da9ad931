import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeAnyway, decodeText, encodeText, readText } from '../index.js';

const MARK = '\uFEFF';
const TEXTS = [
  '',
  'a',
  'é😀\n',
  '\0',
  '\uFFFD',
  '\uFFFE',
  `${MARK}x`,
  'a'.repeat(1001),
  '\r\r\n\u0085',
];

it.each(['utf-8', 'utf-16le', 'utf-16be'] as const)(
  'reads every text in %s, and writes it back byte for byte',
  (encoding) => {
    for (const text of TEXTS) {
      const bytes = encodeText(MARK + text, encoding);
      // In UTF-16LE, a byte order mark and NUL look like the mark of UTF-32.
      if (encoding === 'utf-16le' && text.startsWith('\0')) continue;
      expect(decodeText(bytes)).toEqual({ encoding, mark: MARK, text });
    }
  },
);

it('reads UTF-8 without a mark, and keeps all but the first mark', () => {
  expect(decodeText(Buffer.from('é'))).toEqual({ encoding: 'utf-8', mark: '', text: 'é' });
  expect(decodeText(Buffer.from(`${MARK}${MARK}é`))).toMatchObject({ text: `${MARK}é` });
  expect(decodeText(new Uint8Array())).toEqual({ encoding: 'utf-8', mark: '', text: '' });
});

it.each(['UTF-16LE', 'UTF-16BE', 'UTF-8'])('reads what iconv writes: %s', (name) => {
  const text = 'é😀 \u0085 a\n';
  const bytes = execFileSync('/usr/bin/iconv', ['-f', 'UTF-8', '-t', name], { input: MARK + text });
  expect(decodeText(bytes)).toMatchObject({ text });
});

it('gives bytes back as text or names what is wrong with them, whatever they begin with', () => {
  for (let start = 0; start < 0x1_0000; start += 1) {
    const bytes = Buffer.of(start >> 8, start & 0xff, 0x61);
    const decoded = decodeText(bytes);
    const again = 'text' in decoded && encodeText(decoded.mark + decoded.text, decoded.encoding);
    if (
      again === false ? 'undecodable' in decoded && decoded.undecodable !== '' : again.equals(bytes)
    )
      continue;
    throw new Error(`${start.toString(16)}: ${JSON.stringify(decoded)}`);
  }
  expect(decodeAnyway(Buffer.from('a\xff', 'latin1'))).toBe('a\uFFFD');
});

describe('the text of a file', () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'wins-text-'))));
  afterAll(() => rmSync(folder, { recursive: true }));
  const read = async (bytes: Buffer): Promise<string> => {
    const path = join(folder, 'text');
    writeFileSync(path, bytes);
    return await readText(path, { maxBytes: 100 });
  };

  it('is without its mark', async () => {
    expect(await read(encodeText(`${MARK}a`, 'utf-16le'))).toBe('a');
  });

  it.each([
    [
      Buffer.from([0xff, 0xfe, 0, 0]),
      'found UTF-32; wanted UTF-8, or UTF-16 with a byte order mark',
    ],
    [Buffer.from('a\xff', 'latin1'), 'found the byte 0xff'],
    [Buffer.from('a\0b\0'), 'found NUL bytes, as in UTF-16'],
  ])('is refused for %j', async (bytes, found) => {
    await expect(read(bytes)).rejects.toMatchObject({
      code: 'notText',
      message: expect.stringContaining(found) as unknown,
    });
  });
});

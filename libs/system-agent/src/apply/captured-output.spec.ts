import { CAPTURED_HALF_BYTES, CapturedOutput, omission } from './captured-output.js';

/** Returns bytes that never repeat, so that a wrong offset is found. */
function pattern(length: number): Buffer {
  const bytes = Buffer.alloc(length + 4);
  for (let at = 0; at < length; at += 4)
    bytes.writeUInt32LE(Math.imul(at + 1, 2_654_435_761) >>> 0, at);
  return bytes.subarray(0, length);
}

function captured(bytes: Buffer, chunkBytes: number): CapturedOutput {
  const output = new CapturedOutput();
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    output.add(bytes.subarray(at, at + chunkBytes));
  }
  return output;
}

describe('captured output', () => {
  it('is null when there was none', () => {
    const output = new CapturedOutput();
    output.add(Buffer.alloc(0));
    expect(output.value()).toBeNull();
    expect(output.end(10)).toEqual(Buffer.alloc(0));
  });

  const half = CAPTURED_HALF_BYTES;
  const lengths = [1, 4096, half - 1, half, half + 1, 2 * half - 1, 2 * half];

  it.each(lengths)('of %i bytes is whole, whatever the chunks', (length) => {
    const bytes = pattern(length);
    for (const chunkBytes of [1000, half - 7, 3 * half]) {
      expect(captured(bytes, chunkBytes).value()?.equals(bytes)).toBe(true);
    }
  });

  it.each([1, 999, half, 5 * half + 13])(
    'of %i bytes too many has its beginning and its end, and says how much is missing',
    (tooMany) => {
      const bytes = pattern(2 * half + tooMany);
      const wanted = Buffer.concat([
        bytes.subarray(0, half),
        Buffer.from(omission(tooMany)),
        bytes.subarray(-half),
      ]);
      for (const chunkBytes of [1000, half - 7, 3 * half, bytes.length]) {
        const output = captured(bytes, chunkBytes);
        expect(output.value()?.equals(wanted)).toBe(true);
        expect(output.end(100)).toEqual(bytes.subarray(-100));
      }
    },
  );

  it('keeps its own bytes: those it was given may change', () => {
    const bytes = Buffer.from('before');
    const output = new CapturedOutput();
    output.add(bytes);
    bytes.fill('x');
    expect(output.value()?.toString()).toBe('before');
  });
});

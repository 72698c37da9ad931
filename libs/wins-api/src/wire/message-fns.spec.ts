import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { messageFns, methodOf, type MessageFns } from './message-fns.js';

interface Sample {
  text: string;
  list: string[];
  big: number;
  maybe?: number | undefined;
  named: Record<string, Sample>;
  one?: { $case: 'bytes'; value: Buffer } | { $case: 'sample'; value: Sample } | undefined;
}

const Sample: MessageFns<Sample> = messageFns({
  text: [1, 'string'],
  list: [2, 'string', 'repeated'],
  big: [3, 'uint64'],
  maybe: [4, 'uint32', 'optional'],
  named: [5, () => Sample, 'map'],
  one: { bytes: [6, 'bytes'], sample: [7, () => Sample] },
});
const EMPTY: Sample = {
  text: '',
  list: [],
  big: 0,
  maybe: undefined,
  named: {},
  one: undefined,
};

function hex(bytes: BinaryWriter): string {
  return Buffer.from(bytes.finish()).toString('hex');
}

describe('the functions of a message', () => {
  it('write the wire format of proto3, which leaves out default values, and read it', () => {
    const sample: Sample = {
      text: 'ab',
      list: ['', 'c'],
      big: 300,
      maybe: 0,
      named: { k: { ...EMPTY, text: 'd' } },
      one: { $case: 'bytes', value: Buffer.alloc(0) },
    };
    const written = Sample.encode(sample);
    expect(hex(written)).toBe(
      '0a0261621200120163 18ac02 2000 2a080a016b12030a0164 3200'.replaceAll(' ', ''),
    );
    expect(Sample.decode(Sample.encode(sample).finish())).toEqual(sample);
    expect(hex(Sample.encode(EMPTY))).toBe('');
    expect(Sample.decode(Buffer.alloc(0))).toEqual(EMPTY);
  });

  it('ignore unknown fields, and fields of another wire type', () => {
    const bytes = new BinaryWriter().uint32(99 << 3).uint32(1);
    bytes.uint32(1 << 3).uint32(1);
    bytes.uint32((1 << 3) | 2).string('known');
    expect(Sample.decode(bytes.finish())).toEqual({ ...EMPTY, text: 'known' });
  });

  it('refuse a number that JavaScript cannot hold exactly, and messages that are nested too deeply', () => {
    const large = new BinaryWriter().uint32(3 << 3).uint64('9007199254740993');
    expect(() => Sample.decode(large.finish())).toThrow('the number 9007199254740993 is too large');
    const nested = (levels: number): Sample =>
      levels === 0 ? EMPTY : { ...EMPTY, one: { $case: 'sample', value: nested(levels - 1) } };
    expect(Sample.decode(Sample.encode(nested(99)).finish())).toEqual(nested(99));
    expect(() => Sample.decode(Sample.encode(nested(100)).finish())).toThrow('nested too deeply');
  });

  it.each([
    'the text ends too early: 0a0561',
    'a field reaches beyond the end of its message: 3a020a05 6162636465',
    'its tag is zero: 00',
    'a group only ends: 0c',
  ])('refuse bytes in which %s', (row) => {
    const hex = row.replace(/.*: /, '').replaceAll(' ', '');
    expect(() => Sample.decode(Buffer.from(hex, 'hex'))).toThrow();
  });

  const { requestDeserialize } = methodOf('/p', Sample, Sample, false, false);

  it.each([
    ['a text that repeats', '0a00', ''],
    ['a list', '1200', ''],
    ['messages', '3a00', ''],
    ['unknown fields', '9a0600', ''],
    ['fields in an unknown group', '9a0600', '9b06'],
  ])('refuse a request with too many fields: %s (A50)', (_what, field, start) => {
    const end = start.replace('9b', '9c');
    const of = (count: number) => Buffer.from(start + field.repeat(count) + end, 'hex');
    expect(() => requestDeserialize(of(16_000))).not.toThrow();
    expect(() => requestDeserialize(of(200_000))).toThrow('it has too many fields');
  });

  it('read an answer however many fields it has', () => {
    expect(Sample.decode(Buffer.from('1200'.repeat(200_000), 'hex')).list).toHaveLength(200_000);
  });
});

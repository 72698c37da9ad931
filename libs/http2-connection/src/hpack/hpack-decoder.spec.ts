import { decodeHuffman } from './huffman.js';
import { HpackDecoder } from './hpack-decoder.js';
import { HpackEncoder } from './hpack-encoder.js';
import type { HeaderField } from './static-table.js';

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

/** Requests and answers of RFC 7541, appendix C. */
const REQUESTS: HeaderField[][] = [
  [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
  ],
  [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
    ['cache-control', 'no-cache'],
  ],
  [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', '/index.html'],
    [':authority', 'www.example.com'],
    ['custom-key', 'custom-value'],
  ],
];

describe('a decoder of header blocks', () => {
  it.each<[string, string[]]>([
    [
      'plain (C.3)',
      [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ],
    ],
    [
      'Huffman-coded (C.4)',
      [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ],
    ],
  ])('decodes the requests of the RFC, %s', (_how, blocks) => {
    const decoder = new HpackDecoder();
    for (const [index, block] of blocks.entries()) {
      expect(decoder.decode(hex(block))).toEqual(REQUESTS[index]);
    }
  });

  it.each<[string, string, HeaderField]>([
    [
      'C.2.1 with indexing',
      '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
      ['custom-key', 'custom-header'],
    ],
    ['C.2.2 without indexing', '040c 2f73 616d 706c 652f 7061 7468', [':path', '/sample/path']],
    ['C.2.3 never indexed', '1008 7061 7373 776f 7264 0673 6563 7265 74', ['password', 'secret']],
    ['C.2.4 indexed', '82', [':method', 'GET']],
  ])('decodes a header %s', (_what, block, field) => {
    expect(new HpackDecoder().decode(hex(block))).toEqual([field]);
  });

  it('forgets the oldest headers once its table is full', () => {
    const decoder = new HpackDecoder();
    const remembered = (name: string, octets: number) =>
      Buffer.concat([
        Buffer.of(0x40, 1),
        Buffer.from(name),
        hex('7f'),
        integerRest(octets - 127),
        Buffer.alloc(octets, 'v'),
      ]);
    decoder.decode(remembered('a', 2000));
    decoder.decode(remembered('b', 2000));
    expect(decoder.decode(Buffer.of(0xbf))[0]?.[0]).toBe('a');
    decoder.decode(remembered('c', 2000));
    expect(decoder.decode(Buffer.of(0xbf))[0]?.[0]).toBe('b');
    expect(() => decoder.decode(Buffer.of(0xc0))).toThrow('badHeaderBlock');
  });

  it('takes a smaller table and forgets what it has no room for', () => {
    const decoder = new HpackDecoder();
    decoder.decode(hex('400161 0162'));
    expect(() => decoder.decode(hex('20 be'))).toThrow('badHeaderBlock');
  });

  it.each<[string, string]>([
    ['index 0', '80'],
    ['an index beyond both tables', 'be'],
    ['an integer without end', 'ffffffffffffffff'],
    ['an integer that is cut', 'ff'],
    ['a string that is longer than the block', '0003 61'],
    ['a string without its length', '00'],
    ['a larger table than was offered', '3fe21f'],
    ['a change of the table after a header', '8220'],
    ['three changes of the table', '202020'],
    ['a Huffman string that spells out EOS', '00 84 ffffffff 00'],
    ['a Huffman string with a padding of eight bits', '00 82 1fff 00'],
    ['a Huffman string that is padded with zeros', '00 81 18 00'],
  ])('refuses %s', (_what, block) => {
    expect(() => new HpackDecoder().decode(hex(block))).toThrow('badHeaderBlock');
  });

  it('stops at the limits of a header list, also when few octets name much', () => {
    const decoder = new HpackDecoder();
    expect(() => decoder.decode(Buffer.alloc(65, 0x82))).toThrow('headersTooLarge');
    const large = new HpackDecoder();
    large.decode(
      Buffer.concat([hex('40 01 61 7f'), integerRest(3000 - 127), Buffer.alloc(3000, 'v')]),
    );
    expect(() => large.decode(Buffer.alloc(6, 0xbe))).toThrow('headersTooLarge');
  });

  it('throws nothing but a ConnectionFault, whatever the bytes', () => {
    let seed = 1;
    const random = () => (seed = (seed * 48_271) % 2_147_483_647);
    for (let round = 0; round < 5000; round++) {
      const block = Buffer.from(Array.from({ length: random() % 64 }, () => random() & 0xff));
      try {
        new HpackDecoder().decode(block);
      } catch (error) {
        expect((error as Error).name).toBe('ConnectionFault');
      }
    }
  });
});

describe('an encoder of header blocks', () => {
  it('is understood by the decoder, from names of the table to long values', () => {
    const [encoder, decoder] = [new HpackEncoder(), new HpackDecoder()];
    const fields: HeaderField[] = [
      [':status', '200'],
      [':status', '415'],
      ['content-type', 'application/grpc+proto'],
      ['x-mine', 'y'.repeat(3000)],
      ['x-empty', ''],
    ];
    for (let round = 0; round < 3; round++) {
      expect(decoder.decode(encoder.encode(fields))).toEqual(fields);
    }
  });
});

describe('the Huffman code', () => {
  it('is complete: every code has its place, none is left over', () => {
    // An error in the code table would change some of these results.
    expect(decodeHuffman(Buffer.alloc(0))).toEqual(Buffer.alloc(0));
    expect(decodeHuffman(hex('fffffffc'))).toBeUndefined();
    expect(decodeHuffman(hex('fffffff3'))).toEqual(Buffer.of(10));
    expect(decodeHuffman(hex('fffffff7'))).toEqual(Buffer.of(13));
    expect(decodeHuffman(hex('fffffffb'))).toEqual(Buffer.of(22));
    expect(decodeHuffman(hex('ffffffef'))).toEqual(Buffer.of(249));
  });
});

function integerRest(value: number): Buffer {
  const octets: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>= 7) octets.push((rest & 0x7f) | 0x80);
  return Buffer.from([...octets, rest]);
}

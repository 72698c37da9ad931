import { STATIC_TABLE, type HeaderField } from './static-table.js';

const INDEXED = new Map(
  STATIC_TABLE.map(([name, value], index) => [`${name}\0${value}`, index + 1]),
);
const NAMED = new Map(STATIC_TABLE.map(([name], index) => [name, index + 1] as const).reverse());

/**
 * HPACK encoder of one connection. gRPC answers have few, short headers, so the encoder uses neither a dynamic table nor
 * a Huffman code. The first block sets the table size to zero.
 */
export class HpackEncoder {
  #begun = false;

  encode(fields: readonly HeaderField[]): Buffer {
    const parts: Buffer[] = [];
    if (!this.#begun) parts.push(Buffer.of(0x20));
    this.#begun = true;
    for (const [name, value] of fields) {
      const indexed = INDEXED.get(`${name}\0${value}`);
      if (indexed !== undefined) {
        parts.push(integer(indexed, 7, 0x80));
        continue;
      }
      const named = NAMED.get(name);
      parts.push(integer(named ?? 0, 4, 0));
      if (named === undefined) parts.push(...text(name));
      parts.push(...text(value));
    }
    return Buffer.concat(parts);
  }
}

function text(value: string): [Buffer, Buffer] {
  const octets = Buffer.from(value, 'latin1');
  return [integer(octets.length, 7, 0), octets];
}

function integer(value: number, prefixBits: number, pattern: number): Buffer {
  const most = (1 << prefixBits) - 1;
  if (value < most) return Buffer.of(pattern | value);
  const octets = [pattern | most];
  let rest = value - most;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) octets.push((rest % 0x80) | 0x80);
  octets.push(rest);
  return Buffer.from(octets);
}

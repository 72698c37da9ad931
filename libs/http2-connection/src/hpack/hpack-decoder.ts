import { LIMITS } from '../connection-limits.js';
import { ConnectionFault } from '../end-reason.js';
import { DynamicTable, fieldSize } from './dynamic-table.js';
import { decodeHuffman } from './huffman.js';
import type { HeaderField } from './static-table.js';

/** Five octets are enough for every index and every length in an allowed block. */
const MOST_INTEGER_OCTETS = 5;
/** Two table size changes at the beginning of a block are enough for every legal sequence. */
const MOST_RESIZES = 2;

/** HPACK decoder of one connection (RFC 7541). Blocks must be passed whole and in order. */
export class HpackDecoder {
  readonly #table = new DynamicTable();
  #block: Buffer = Buffer.alloc(0);
  #at = 0;

  get heldOctets(): number {
    return this.#table.size;
  }

  /** @throws ConnectionFault `headersTooLarge`, `badHeaderBlock`; after either, the tables of both sides differ. */
  decode(block: Buffer): HeaderField[] {
    this.#block = block;
    this.#at = 0;
    const list: HeaderField[] = [];
    let size = 0;
    let resizes = 0;
    while (this.#at < block.length) {
      const first = block[this.#at] as number;
      if ((first & 0xe0) === 0x20) {
        resizes += 1;
        this.#resize(list.length === 0 && resizes <= MOST_RESIZES);
        continue;
      }
      const field = first >= 0x80 ? this.#field(this.#integer(7)) : this.#literal(first);
      list.push(field);
      size += fieldSize(field);
      if (size > LIMITS.headerOctets || list.length > LIMITS.headerFields)
        throw new ConnectionFault('headersTooLarge');
    }
    this.#block = Buffer.alloc(0);
    return list;
  }

  #resize(allowed: boolean): void {
    const size = this.#integer(5);
    if (!allowed || size > DynamicTable.LARGEST) throw new ConnectionFault('badHeaderBlock');
    this.#table.resize(size);
  }

  #literal(first: number): HeaderField {
    const remember = (first & 0x40) !== 0;
    const index = this.#integer(remember ? 6 : 4);
    const name = index === 0 ? this.#text() : this.#field(index)[0];
    const field: HeaderField = [name, this.#text()];
    if (remember) this.#table.add(field);
    return field;
  }

  #field(index: number): HeaderField {
    const field = this.#table.at(index);
    if (field === undefined) throw new ConnectionFault('badHeaderBlock');
    return field;
  }

  #octet(): number {
    const octet = this.#block[this.#at];
    if (octet === undefined) throw new ConnectionFault('badHeaderBlock');
    this.#at += 1;
    return octet;
  }

  /** Decodes an integer that begins in the lowest `prefixBits` bits of an octet. */
  #integer(prefixBits: number): number {
    const most = (1 << prefixBits) - 1;
    let value = this.#octet() & most;
    if (value < most) return value;
    for (let count = 0; count < MOST_INTEGER_OCTETS; count++) {
      const octet = this.#octet();
      value += (octet & 0x7f) * 2 ** (7 * count);
      if (octet < 0x80) return value;
    }
    throw new ConnectionFault('badHeaderBlock');
  }

  #text(): string {
    const isHuffman = ((this.#block[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#integer(7);
    const end = this.#at + length;
    if (end > this.#block.length) throw new ConnectionFault('badHeaderBlock');
    const coded = this.#block.subarray(this.#at, end);
    this.#at = end;
    const octets = isHuffman ? decodeHuffman(coded) : coded;
    if (octets === undefined) throw new ConnectionFault('badHeaderBlock');
    return octets.toString('latin1');
  }
}

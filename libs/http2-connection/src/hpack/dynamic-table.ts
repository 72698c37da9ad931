import { STATIC_TABLE, type HeaderField } from './static-table.js';

/** Overhead of an entry besides its octets (RFC 7541, section 4.1). */
export const FIELD_OVERHEAD = 32;

export function fieldSize([name, value]: HeaderField): number {
  return name.length + value.length + FIELD_OVERHEAD;
}

/** Dynamic table of a peer, at most 4,096 octets as HPACK counts them. */
export class DynamicTable {
  static readonly LARGEST = 4096;
  /** Newest last. */
  readonly #fields: HeaderField[] = [];
  #size = 0;
  #maxSize = DynamicTable.LARGEST;

  get size(): number {
    return this.#size;
  }

  /** `index` counts through both tables, from 1. */
  at(index: number): HeaderField | undefined {
    if (index <= STATIC_TABLE.length) return STATIC_TABLE[index - 1];
    return this.#fields[this.#fields.length - (index - STATIC_TABLE.length)];
  }

  add(field: HeaderField): void {
    this.#fields.push(field);
    this.#size += fieldSize(field);
    this.#evict();
  }

  /** The caller ensures that `maxSize` is at most `LARGEST`. */
  resize(maxSize: number): void {
    this.#maxSize = maxSize;
    this.#evict();
  }

  #evict(): void {
    while (this.#size > this.#maxSize) {
      const oldest = this.#fields.shift();
      if (oldest !== undefined) this.#size -= fieldSize(oldest);
    }
  }
}

import type { FieldsOf } from './c-declaration.js';
import { lazily, loadKoffi } from './system-library.js';

/** A structure of C with its fields as values. */
export interface Structure<Fields> {
  readonly sizeBytes: number;
  /** Reads one from our memory, or from an address that the system gave. @throws RangeError past the end of our memory. */
  read(memory: Buffer | bigint, offset?: number): Fields;
  /** New memory with one in it, all zero but these fields; `tailBytes` more behind it. */
  create(fields: Partial<Fields>, tailBytes?: number): Buffer;
  /** Writes these fields and leaves the others as they are. @throws RangeError past the end of our memory. */
  write(memory: Buffer | bigint, fields: Partial<Fields>, offset?: number): void;
}

/** Declares a structure by its fields, as C does: `uint32_t size; void *text`. Its layout is the one of 64-bit programs. */
export function structure<const Declaration extends string>(
  declaration: Declaration,
): Structure<FieldsOf<Declaration>> {
  const type = lazily(() => {
    const koffi = loadKoffi();
    const fields = declaration.split('; ').map((field) => {
      const [, kind = '', name = '', length] =
        /^(\w+ \*|\w+ )(\w+)(?:\[(\d+)\])?$/.exec(field) ?? [];
      return [name, length === undefined ? kind.trim() : koffi.array(kind.trim(), Number(length))];
    });
    return koffi.struct(Object.fromEntries(fields) as Record<string, string>);
  });
  const assertWithin = (memory: Buffer | bigint, offset: number): void => {
    const isWithin =
      typeof memory === 'bigint' || (offset >= 0 && offset + type().size <= memory.length);
    if (!isWithin) throw new RangeError(`a structure at ${offset} is out of range`);
  };
  return {
    get sizeBytes() {
      return type().size;
    },
    read: (memory, offset = 0) => {
      assertWithin(memory, offset);
      return loadKoffi().decode(memory, offset, type()) as FieldsOf<Declaration>;
    },
    create: (fields, tailBytes = 0) => {
      const memory = Buffer.alloc(type().size + tailBytes);
      loadKoffi().encode(memory, type(), fields);
      return memory;
    },
    write: (memory, fields, offset = 0) => {
      assertWithin(memory, offset);
      const { decode, encode } = loadKoffi();
      // What encode is not given, it writes as zero.
      encode(memory, offset, type(), { ...(decode(memory, offset, type()) as object), ...fields });
    },
  };
}

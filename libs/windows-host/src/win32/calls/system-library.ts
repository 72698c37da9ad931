import type koffiModule from 'koffi';
import { messageOf } from '@wins/base';
import path from 'node:path';
import { WindowsError } from '../../windows-error.js';

type Koffi = typeof koffiModule;

/** Functions of a DLL by name. */
export type SystemLibrary<Prototypes extends readonly string[]> = {
  readonly [P in Prototypes[number] as NameIn<P>]: FunctionOf<P>;
};

/** Creates a value at first use, because many programs that import this library cannot load native code. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Loads the foreign function interface. Its structures also work on Linux. */
export const loadKoffi = lazily((): Koffi => {
  try {
    // oxlint-disable-next-line typescript/no-require-imports -- at first use, never at import
    return require('koffi') as Koffi;
  } catch (cause) {
    const found = messageOf(cause).split('\n', 1)[0];
    const message = `cannot load the addon that calls Windows: ${found}; a bundle needs koffi beside it`;
    throw new WindowsError('unavailable', message, { cause });
  }
});

/**
 * Declares functions of a DLL; their types follow from the prototypes. Loads the DLL at the first call, only from
 * System32.
 *
 * @param feature - Name of the feature that contains the functions, such as `Windows`. Error messages say that the
 * feature is not installed.
 * @throws WindowsError `unavailable`, at the first use of a function that this system does not have.
 */
export function systemLibrary<const Prototypes extends readonly string[]>(
  file: string,
  feature: string,
  prototypes: Prototypes,
): SystemLibrary<Prototypes> {
  const library = {} as SystemLibrary<Prototypes>;
  const load = lazily(() => loadLibrary(file, feature));
  for (const prototype of prototypes) {
    const name = /\w+(?=\()/.exec(prototype)?.[0] ?? '';
    const get = (): unknown => {
      const tried = `cannot find "${prototype}" in ${systemPath(file)}`;
      const value: unknown = attempt(tried, feature, () => load().func(prototype));
      Object.defineProperty(library, name, { value, configurable: true, writable: true });
      return value;
    };
    Object.defineProperty(library, name, { get, configurable: true });
  }
  return library;
}

/** @throws WindowsError `unavailable`. */
export function addressOfFunction(file: string, name: string): bigint {
  // The library stays loaded, so that GetModuleHandleW finds it.
  loadLibrary(file, 'Windows');
  const address = modules.GetProcAddress(modules.GetModuleHandleW(file), name);
  if (address !== null) return address;
  throw new WindowsError('unavailable', `cannot find ${name} in ${file}`);
}

const modules = systemLibrary('kernel32.dll', 'Windows', [
  'intptr_t GetModuleHandleW(str16 module)',
  'void *GetProcAddress(intptr_t module, str name)',
]);

/** Returns the path of `file` in System32, or `file` unchanged if it is the path of the running program. */
export function systemPath(file: string): string {
  if (file === process.execPath) return file;
  return path.win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', file);
}

function loadLibrary(file: string, feature: string): ReturnType<Koffi['load']> {
  if (process.platform !== 'win32')
    throw new WindowsError('unavailable', `cannot call Windows: this is ${process.platform}`);
  const location = systemPath(file);
  return attempt(`cannot load ${location}`, feature, () => loadKoffi().load(location));
}

function attempt<T>(tried: string, feature: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (cause instanceof WindowsError) throw cause;
    throw new WindowsError('unavailable', `${tried}: ${feature} is not installed`, { cause });
  }
}

/** A C structure, whose fields are read and written as JavaScript values. */
export interface Structure<Fields> {
  readonly sizeBytes: number;
  /** `memory` is a Buffer or an address from the system. @throws RangeError past the end of a Buffer. */
  read(memory: Buffer | bigint, offset?: number): Fields;
  /** Sets missing fields to zero, and appends `tailBytes` bytes of zeros. */
  create(fields: Partial<Fields>, tailBytes?: number): Buffer;
  /** Writes these fields and keeps the others. @throws RangeError past the end of a Buffer. */
  write(memory: Buffer | bigint, fields: Partial<Fields>, offset?: number): void;
}

/** Declares a structure by its fields, as in C: `uint32_t size; void *text`. Its layout is that of 64-bit programs. */
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
      // Pass the current fields too, because `encode` writes missing ones as zero.
      encode(memory, offset, type(), { ...(decode(memory, offset, type()) as object), ...fields });
    },
  };
}

/** Memory passed to a function: a Buffer, an address, or null. */
type Pointer = Buffer | bigint | null;

/** Argument type for one parameter of a C function, declared like `uint32_t flags`. */
type Parameter<Declaration extends string> = Declaration extends `_Out_ void **${string}`
  ? [bigint | null]
  : Declaration extends `_Out_ uint64_t *${string}`
    ? [number | bigint]
    : Declaration extends `_Out_ ${string}` | `_Inout_ ${string}`
      ? [number]
      : Declaration extends `void *${string}`
        ? Pointer
        : Declaration extends `str16 *${string}`
          ? readonly string[]
          : Declaration extends `str${string}`
            ? string | null
            : number;

type Parameters<List extends string> = List extends ''
  ? []
  : List extends `${infer First}, ${infer Rest}`
    ? [Parameter<First>, ...Parameters<Rest>]
    : [Parameter<List>];

type Result<Before extends string> = Before extends `void *${string}`
  ? bigint | null
  : Before extends `void ${string}`
    ? // oxlint-disable-next-line typescript/no-invalid-void-type -- it is a return type
      void
    : number;

type NameIn<Prototype extends string> = Prototype extends `${infer Before}(${string}`
  ? Before extends `${string} *${infer Name}` | `${string} ${infer Name}`
    ? Name
    : never
  : never;

/** A C function. `async` calls it on another thread, because the call may take seconds. */
export interface Callable<Arguments extends unknown[], Returned> {
  (...args: Arguments): Returned;
  readonly async: (...args: [...Arguments, (error: unknown, result: Returned) => void]) => void;
}

type FunctionOf<Prototype extends string> = Prototype extends `${infer Before}(${infer List})`
  ? Callable<Parameters<List>, Result<Before>>
  : never;

type FieldsOf<Declaration extends string> = Declaration extends `${infer First}; ${infer Rest}`
  ? FieldOf<First> & FieldsOf<Rest>
  : FieldOf<Declaration>;

type FieldOf<Field extends string> = Field extends `void *${infer Name}`
  ? Readonly<Record<Name, bigint | null>>
  : Field extends `char16_t ${infer Name}[${string}]`
    ? Readonly<Record<Name, string>>
    : Field extends `${string} ${infer Name}[${string}]`
      ? Readonly<Record<Name, Uint8Array>>
      : Field extends `${'uint64_t' | 'int64_t'} ${infer Name}`
        ? Readonly<Record<Name, number | bigint>>
        : Field extends `${string} ${infer Name}`
          ? Readonly<Record<Name, number>>
          : never;

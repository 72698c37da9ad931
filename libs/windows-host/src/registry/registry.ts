import { quoteText } from '@wins/base';
import { advapi32 } from '../win32/advapi32.js';
import { checkStatus } from '../win32/calls/call.js';
import { WindowsError } from '../windows-error.js';

/** Key of the registry; koffi's `intptr_t`. */
type KeyHandle = number;

/** The C constant 0x80000002, sign-extended. */
const HKEY_LOCAL_MACHINE: KeyHandle = -0x7ffffffe;
/** KEY_READ with KEY_WOW64_64KEY: the view of 64-bit programs, even for a 32-bit process. */
const READ = 0x2_0019 | 0x100;
const KEY_WRITE = 0x2_0006;
const DELETE = 0x1_0000;

const ERROR_FILE_NOT_FOUND = 2;
const ERROR_MORE_DATA = 234;
const ERROR_NO_MORE_ITEMS = 259;

const FIRST_SIZE_BYTES = 1024;
// Windows does not limit the size of a value. The values read here are far smaller.
const MAX_VALUE_BYTES = 16 * 1024 * 1024;
// Windows limits the name of a value to 16,383 characters.
const NAME_CHARACTERS = 16_384;

/**
 * One key below HKEY_LOCAL_MACHINE, in the view of 64-bit programs. The caller that opened it closes it.
 *
 * Its methods throw a {@link WindowsError}: `unavailable`, `accessDenied`, `notFound` when the key was deleted
 * meanwhile, `invalidArgument` for a name with NUL, `unknown` for a value above 16 MiB.
 */
export class RegistryKey implements Disposable {
  #handle: KeyHandle | undefined;

  private constructor(
    /** Such as `SOFTWARE\Microsoft`. */
    readonly path: string,
    handle: KeyHandle,
  ) {
    this.#handle = handle;
  }
  /** Undefined when the key does not exist. */
  static open(path: string): RegistryKey | undefined {
    const opened: [number] = [0];
    const tried = `cannot open the registry key ${path}`;
    return openKey(path, READ, opened, tried) ? new RegistryKey(path, opened[0]) : undefined;
  }

  /** Opens a key to read and write. Creates the key and its parents where they are missing. */
  static create(path: string): RegistryKey {
    const opened: [number] = [0];
    const [root, access] = [HKEY_LOCAL_MACHINE, READ | KEY_WRITE];
    const { RegCreateKeyExW: create } = advapi32;
    const status = create(root, withoutNul(path), 0, null, 0, access, null, opened, null);
    checkStatus(`cannot create the registry key ${path}`, 'RegCreateKeyExW', status);
    return new RegistryKey(path, opened[0]);
  }

  /** Deletes the key and everything below it. Ignores an absent key. After a failure, part may be gone. */
  static deleteTree(path: string): void {
    const tried = `cannot delete the registry key ${path}`;
    const split = path.lastIndexOf('\\');
    if (split === -1 || split === path.length - 1)
      throw new WindowsError('invalidArgument', `${tried}: it is a root key`);
    const parent: [number] = [0];
    const name = withoutNul(path.slice(split + 1));
    if (!openKey(path.slice(0, split), READ | KEY_WRITE | DELETE, parent, tried)) return;
    const status = advapi32.RegDeleteTreeW(parent[0], name);
    advapi32.RegCloseKey(parent[0]);
    checkStatus(tried, 'RegDeleteTreeW', status, ERROR_FILE_NOT_FOUND);
  }

  /** Returns undefined when the key has no such value. */
  value(name: string): RegistryValue | undefined {
    const { RegQueryValueExW } = advapi32;
    const tried = `cannot read ${name} of the registry key ${this.path}`;
    const kind: [number] = [0];
    let capacity = FIRST_SIZE_BYTES;
    for (;;) {
      const data = Buffer.alloc(capacity);
      const size: [number] = [capacity];
      const status = RegQueryValueExW(this.#open(), withoutNul(name), null, kind, data, size);
      if (status === ERROR_FILE_NOT_FOUND) return undefined;
      if (status !== ERROR_MORE_DATA) {
        checkStatus(tried, 'RegQueryValueExW', status);
        return decodeRegistryValue({ kind: kind[0], bytes: data.subarray(0, size[0]) });
      }
      capacity = nextCapacity(capacity, size[0], tried);
    }
  }

  /** The default value has the name `''`. */
  values(): ReadonlyMap<string, RegistryValue> {
    const found = new Map<string, RegistryValue>();
    let capacity = FIRST_SIZE_BYTES;
    // Counts by itself: a value that is deleted and written again meanwhile has a second index.
    for (let index = 0; ;) {
      const next = this.#valueAt(index, capacity);
      if (next === undefined) return found;
      if (typeof next === 'number') capacity = next;
      else {
        found.set(next.name, decodeRegistryValue(next));
        index += 1;
      }
    }
  }

  /** Creates or replaces a value. */
  set(name: string, value: RegistryValue): void {
    const { kind, bytes } = encodeRegistryValue(value);
    const { RegSetValueExW } = advapi32;
    const status = RegSetValueExW(this.#open(), withoutNul(name), 0, kind, bytes, bytes.length);
    checkStatus(`cannot write ${name} of the registry key ${this.path}`, 'RegSetValueExW', status);
  }

  /** Ignores an absent value. */
  delete(name: string): void {
    const tried = `cannot delete ${name} of the registry key ${this.path}`;
    const status = advapi32.RegDeleteValueW(this.#open(), withoutNul(name));
    checkStatus(tried, 'RegDeleteValueW', status, ERROR_FILE_NOT_FOUND);
  }

  /** Waits until the changes are on the disk. */
  flush(): void {
    const status = advapi32.RegFlushKey(this.#open());
    checkStatus(`cannot flush the registry key ${this.path} to the disk`, 'RegFlushKey', status);
  }

  /** Idempotent. */
  close(): void {
    if (this.#handle === undefined) return;
    advapi32.RegCloseKey(this.#handle);
    this.#handle = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Returns undefined past the last value. If `capacity` is too small, returns the buffer size in bytes to retry with. */
  #valueAt(index: number, capacity: number): (StoredValue & { name: string }) | number | undefined {
    const tried = `cannot read value ${index} of the registry key ${this.path}`;
    const name = Buffer.alloc(NAME_CHARACTERS * 2);
    const length: [number] = [NAME_CHARACTERS];
    const data = Buffer.alloc(capacity);
    const size: [number] = [capacity];
    const kind: [number] = [0];
    const { RegEnumValueW } = advapi32;
    const status = RegEnumValueW(this.#open(), index, name, length, null, kind, data, size);
    if (status === ERROR_NO_MORE_ITEMS) return undefined;
    if (status === ERROR_MORE_DATA) return nextCapacity(capacity, size[0], tried);
    checkStatus(tried, 'RegEnumValueW', status);
    return {
      name: name.toString('utf16le', 0, length[0] * 2),
      kind: kind[0],
      bytes: data.subarray(0, size[0]),
    };
  }

  #open(): KeyHandle {
    if (this.#handle !== undefined) return this.#handle;
    throw new RangeError(`the registry key ${this.path} is closed`);
  }
}

/** The value may grow between two queries, so the buffer at least doubles. */
function nextCapacity(had: number, wanted: number, tried: string): number {
  if (wanted <= MAX_VALUE_BYTES && had < MAX_VALUE_BYTES) return Math.max(wanted, had * 2);
  const message = `${tried}: found ${wanted} bytes; wanted at most ${MAX_VALUE_BYTES}`;
  throw new WindowsError('unknown', message);
}

/** A name with NUL would silently name another key or value. */
function withoutNul(name: string): string {
  if (!name.includes('\0')) return name;
  const message = `cannot use the name ${quoteText(name)} in the registry: it holds NUL`;
  throw new WindowsError('invalidArgument', message);
}
/** Returns false when the key does not exist. */
function openKey(path: string, access: number, opened: [number], tried: string): boolean {
  const { RegOpenKeyExW } = advapi32;
  const status = RegOpenKeyExW(HKEY_LOCAL_MACHINE, withoutNul(path), 0, access, opened);
  checkStatus(tried, 'RegOpenKeyExW', status, ERROR_FILE_NOT_FOUND);
  return status === 0;
}

/** A value with its type. `bytes` stands for all types that have no name here. */
export type RegistryValue =
  | { readonly type: 'text'; readonly value: string }
  /** Text with `%NAME%` in it; never expanded here. */
  | { readonly type: 'expandable-text'; readonly value: string }
  | { readonly type: 'texts'; readonly value: readonly string[] }
  /** Unsigned 32-bit number. */
  | { readonly type: 'number'; readonly value: number }
  /** Any other kind, as it is stored. */
  | { readonly type: 'bytes'; readonly value: Buffer };

/** `kind` is a `REG_` constant. */
interface StoredValue {
  readonly kind: number;
  readonly bytes: Buffer;
}

const REG_SZ = 1;
const REG_EXPAND_SZ = 2;
const REG_BINARY = 3;
const REG_DWORD = 4;
const REG_MULTI_SZ = 7;

/** Returns type `bytes` for a value that does not fit its kind, because the registry does not check values. */
export function decodeRegistryValue({ kind, bytes }: StoredValue): RegistryValue {
  if (kind === REG_SZ) return { type: 'text', value: decodeText(bytes) };
  if (kind === REG_EXPAND_SZ) return { type: 'expandable-text', value: decodeText(bytes) };
  if (kind === REG_MULTI_SZ) {
    // The list ends at an empty text, or where the bytes end.
    const texts = utf16(bytes).split('\0');
    const end = texts.indexOf('');
    return { type: 'texts', value: end === -1 ? texts : texts.slice(0, end) };
  }
  if (kind === REG_DWORD && bytes.length === 4) {
    return { type: 'number', value: bytes.readUInt32LE(0) };
  }
  return { type: 'bytes', value: bytes };
}

/** @throws RangeError for a text with NUL, and for an empty text in a list, because neither can be stored. */
export function encodeRegistryValue(value: RegistryValue): StoredValue {
  switch (value.type) {
    case 'text':
      return { kind: REG_SZ, bytes: encodeText(value.value) };
    case 'expandable-text':
      return { kind: REG_EXPAND_SZ, bytes: encodeText(value.value) };
    case 'texts':
      if (value.value.includes(''))
        throw new RangeError('a list of texts cannot hold an empty one');
      return {
        kind: REG_MULTI_SZ,
        bytes: Buffer.concat([...value.value.map(encodeText), Buffer.alloc(2)]),
      };
    case 'number': {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(value.value);
      return { kind: REG_DWORD, bytes };
    }
    case 'bytes':
      return { kind: REG_BINARY, bytes: value.value };
  }
}

/** Decodes up to the first NUL, which may be missing. */
function decodeText(bytes: Buffer): string {
  const text = utf16(bytes);
  const end = text.indexOf('\0');
  return end === -1 ? text : text.slice(0, end);
}

function utf16(bytes: Buffer): string {
  return bytes.toString('utf16le', 0, bytes.length - (bytes.length % 2));
}

function encodeText(text: string): Buffer {
  if (text.includes('\0')) throw new RangeError('a text of the registry cannot hold NUL');
  return Buffer.from(`${text}\0`, 'utf16le');
}

/** Returns `SystemRoot` from the registry, because the environment may come from a container. Undefined if that value is missing. */
export function windowsFolder(): string | undefined {
  using key = RegistryKey.open('SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion');
  const root = key?.value('SystemRoot');
  return root?.type === 'text' ? root.value : undefined;
}

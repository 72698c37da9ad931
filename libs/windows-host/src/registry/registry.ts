import { quoteText } from '@wins/wins-program';
import {
  decodeRegistryValue,
  encodeRegistryValue,
  type RegistryValue,
  type StoredValue,
} from './registry-value.js';
import { advapi32 } from '../win32/advapi32.js';
import { checkStatus } from '../win32/calls/call.js';
import { WindowsError } from '../windows-error.js';

/** A key of the registry; koffi's `intptr_t`. */
type KeyHandle = number;

/** The C constant 0x80000002, whose sign is extended. */
const HKEY_LOCAL_MACHINE: KeyHandle = -0x7ffffffe;
/** KEY_READ in the registry of a 64-bit system, whatever the bits of the process. */
const READ = 0x2_0019 | 0x100;
const KEY_WRITE = 0x2_0006;
const DELETE = 0x1_0000;

const ERROR_FILE_NOT_FOUND = 2;
const ERROR_MORE_DATA = 234;
const ERROR_NO_MORE_ITEMS = 259;

const FIRST_SIZE_BYTES = 1024;
// Nothing that is read here comes near it; a value can be as large as memory.
const MAX_VALUE_BYTES = 16 * 1024 * 1024;
// The system's own limit is 16,383 characters.
const NAME_CHARACTERS = 16_384;

/**
 * One key below HKEY_LOCAL_MACHINE, in the view of 64-bit programs. The caller that opened it closes it.
 *
 * Its methods throw a {@link WindowsError}: `accessDenied`, `notFound` when the key was deleted meanwhile,
 * `invalidArgument` for a name with NUL, `unknown` for a value above 16 MiB.
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

  /**
   * Opens a key to read it; undefined when it does not exist.
   *
   * @throws WindowsError `accessDenied`, `invalidArgument`, `unavailable`.
   */
  static open(path: string): RegistryKey | undefined {
    const opened: [number] = [0];
    const tried = `opened the registry key ${path}`;
    return openKey(path, READ, opened, tried) ? new RegistryKey(path, opened[0]) : undefined;
  }

  /**
   * Opens a key to read and write it, and makes it and those above it when they are absent.
   *
   * @throws WindowsError `accessDenied`, `invalidArgument`, `unavailable`.
   */
  static create(path: string): RegistryKey {
    const opened: [number] = [0];
    const [root, access] = [HKEY_LOCAL_MACHINE, READ | KEY_WRITE];
    const { RegCreateKeyExW: create } = advapi32;
    const status = create(root, withoutNul(path), 0, null, 0, access, null, opened, null);
    checkStatus(`created the registry key ${path}`, 'RegCreateKeyExW', status);
    return new RegistryKey(path, opened[0]);
  }

  /**
   * Deletes a key with all values and keys below it. One that is absent is no error.
   *
   * @throws WindowsError `accessDenied`, `invalidArgument`, `unavailable`; some of it may be gone then.
   */
  static deleteTree(path: string): void {
    const tried = `deleted the registry key ${path}`;
    const split = path.lastIndexOf('\\');
    if (split === -1 || split === path.length - 1) {
      throw new WindowsError('invalidArgument', `${tried}: wanted one below another`);
    }
    const parent: [number] = [0];
    const name = withoutNul(path.slice(split + 1));
    if (!openKey(path.slice(0, split), READ | KEY_WRITE | DELETE, parent, tried)) return;
    const status = advapi32.RegDeleteTreeW(parent[0], name);
    advapi32.RegCloseKey(parent[0]);
    checkStatus(tried, 'RegDeleteTreeW', status, ERROR_FILE_NOT_FOUND);
  }

  /** The value of this name; undefined when it does not exist. */
  value(name: string): RegistryValue | undefined {
    const { RegQueryValueExW } = advapi32;
    const tried = `read ${name} of the registry key ${this.path}`;
    const kind: [number] = [0];
    let room = FIRST_SIZE_BYTES;
    for (;;) {
      const data = Buffer.alloc(room);
      const size: [number] = [room];
      const status = RegQueryValueExW(this.#open(), withoutNul(name), null, kind, data, size);
      if (status === ERROR_FILE_NOT_FOUND) return undefined;
      if (status !== ERROR_MORE_DATA) {
        checkStatus(tried, 'RegQueryValueExW', status);
        return decodeRegistryValue({ kind: kind[0], bytes: data.subarray(0, size[0]) });
      }
      room = moreRoom(room, size[0], tried);
    }
  }

  /** All values by name. The one without a name has the name `''`. */
  values(): ReadonlyMap<string, RegistryValue> {
    const found = new Map<string, RegistryValue>();
    let room = FIRST_SIZE_BYTES;
    for (;;) {
      const next = this.#valueAt(found.size, room);
      if (next === undefined) return found;
      if (typeof next === 'number') room = next;
      else found.set(next.name, decodeRegistryValue(next));
    }
  }

  /** Writes a value, over one of the same name. */
  set(name: string, value: RegistryValue): void {
    const { kind, bytes } = encodeRegistryValue(value);
    const { RegSetValueExW } = advapi32;
    const status = RegSetValueExW(this.#open(), withoutNul(name), 0, kind, bytes, bytes.length);
    checkStatus(`wrote ${name} of the registry key ${this.path}`, 'RegSetValueExW', status);
  }

  /** Deletes a value. One that is absent is no error. */
  delete(name: string): void {
    const tried = `deleted ${name} of the registry key ${this.path}`;
    const status = advapi32.RegDeleteValueW(this.#open(), withoutNul(name));
    checkStatus(tried, 'RegDeleteValueW', status, ERROR_FILE_NOT_FOUND);
  }

  /** Waits until all that was written to the key is on the disk. */
  flush(): void {
    const status = advapi32.RegFlushKey(this.#open());
    checkStatus(`wrote the registry key ${this.path} to the disk`, 'RegFlushKey', status);
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

  /** A value by its place, undefined past the last one, or the room in bytes that it needs. */
  #valueAt(
    index: number,
    room: number,
  ): (StoredValue & { readonly name: string }) | number | undefined {
    const tried = `read value ${index} of the registry key ${this.path}`;
    const name = Buffer.alloc(NAME_CHARACTERS * 2);
    const length: [number] = [NAME_CHARACTERS];
    const data = Buffer.alloc(room);
    const size: [number] = [room];
    const kind: [number] = [0];
    const { RegEnumValueW } = advapi32;
    const status = RegEnumValueW(this.#open(), index, name, length, null, kind, data, size);
    if (status === ERROR_NO_MORE_ITEMS) return undefined;
    if (status === ERROR_MORE_DATA) return moreRoom(room, size[0], tried);
    checkStatus(tried, 'RegEnumValueW', status);
    return {
      name: name.toString('utf16le', 0, length[0] * 2),
      kind: kind[0],
      bytes: data.subarray(0, size[0]),
    };
  }

  #open(): KeyHandle {
    if (this.#handle !== undefined) return this.#handle;
    throw new RangeError(`used the registry key ${this.path} after it was closed`);
  }
}

/** The value may grow between two looks, so the room grows by more than was asked for. */
function moreRoom(had: number, wanted: number, tried: string): number {
  if (wanted <= MAX_VALUE_BYTES && had < MAX_VALUE_BYTES) return Math.max(wanted, had * 2);
  const message = `${tried}: found ${wanted} bytes; wanted at most ${MAX_VALUE_BYTES}`;
  throw new WindowsError('unknown', message);
}

/** A name with NUL would silently name something else. */
function withoutNul(name: string): string {
  if (!name.includes('\0')) return name;
  const found = quoteText(name);
  throw new WindowsError('invalidArgument', `named ${found} in the registry: it holds NUL`);
}

/** False when there is none. */
function openKey(path: string, access: number, opened: [number], tried: string): boolean {
  const { RegOpenKeyExW } = advapi32;
  const status = RegOpenKeyExW(HKEY_LOCAL_MACHINE, withoutNul(path), 0, access, opened);
  checkStatus(tried, 'RegOpenKeyExW', status, ERROR_FILE_NOT_FOUND);
  return status === 0;
}

/** One value of a registry key, by the kinds that are read and written here. */
export type RegistryValue =
  | { readonly type: 'text'; readonly value: string }
  /** Text with `%NAME%` in it; never expanded here. */
  | { readonly type: 'expandable-text'; readonly value: string }
  | { readonly type: 'texts'; readonly value: readonly string[] }
  /** 32 bits without sign. */
  | { readonly type: 'number'; readonly value: number }
  /** Any other kind, as it is stored. */
  | { readonly type: 'bytes'; readonly value: Buffer };

/** The system's number of a kind of value, and its bytes. */
export interface StoredValue {
  readonly kind: number;
  readonly bytes: Buffer;
}

const REG_SZ = 1;
const REG_EXPAND_SZ = 2;
const REG_BINARY = 3;
const REG_DWORD = 4;
const REG_MULTI_SZ = 7;

/** Reads what is stored. The registry checks no value against its kind, so what does not fit its kind is `bytes`. */
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

/** @throws RangeError for a text that cannot be stored: one with NUL, or an empty one in a list. */
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

/** Up to the first NUL, which may be missing. */
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

/** Encodings that {@link decodeText} recognises. UTF-16 needs a byte order mark. */
export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/** A text, with all that is needed to encode it again. */
export interface DecodedText {
  readonly encoding: TextEncoding;
  /** U+FEFF or empty. */
  readonly mark: string;
  /** Without the byte order mark. */
  readonly text: string;
}

/** Result for bytes that cannot be decoded. */
export interface UndecodableText {
  /** Follows "found" in a message. */
  readonly undecodable: string;
  /** The text before the fault, such as to find its line. */
  readonly before: string;
}

/** Follows "wanted" in a message. */
export const WANTED_TEXT = 'UTF-8, or UTF-16 with a byte order mark';

const BYTE_ORDER_MARK = '\uFEFF';

/** Decodes UTF-8, and UTF-16 with a byte order mark. UTF-16 needs its mark, as in YAML 1.1, because a guess may be wrong. */
export function decodeText(source: Uint8Array): DecodedText | UndecodableText {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  const starts = (...wanted: readonly number[]): boolean =>
    wanted.every((byte, index) => bytes[index] === byte);
  const refused = (undecodable: string): UndecodableText => ({ undecodable, before: '' });
  if (starts(0xff, 0xfe, 0, 0) || starts(0, 0, 0xfe, 0xff)) return refused('UTF-32');
  if (starts(0xff, 0xfe)) return decodeUtf16(bytes, 'utf-16le');
  if (starts(0xfe, 0xff)) return decodeUtf16(bytes, 'utf-16be');
  // Probably UTF-16 or UTF-32 without a mark: if the first character is ASCII, one of the first two bytes is 0.
  if (bytes.length > 1 && (bytes[0] === 0 || bytes[1] === 0))
    return refused('NUL bytes, as in UTF-16 or UTF-32 without a byte order mark');
  return decodeUtf8(bytes);
}

/** Decodes any bytes; invalid ones become U+FFFD. For callers that judge the content themselves. */
export function decodeAnyway(source: Uint8Array): string {
  const decoded = decodeText(source);
  return 'text' in decoded ? decoded.text : Buffer.from(source).toString('utf8');
}

/** Encodes `text`, which includes the byte order mark, if any. */
export function encodeText(text: string, encoding: TextEncoding): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8');
  const bytes = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16le' ? bytes : bytes.swap16();
}

function decodeUtf16(bytes: Buffer, encoding: TextEncoding): DecodedText | UndecodableText {
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 2));
  const text = (encoding === 'utf-16le' ? whole : Buffer.from(whole).swap16()).toString('utf16le');
  const lone = /\p{Cs}/u.exec(text);
  const before = text.slice(1, lone?.index);
  if (lone !== null) return { undecodable: 'half a character of UTF-16', before };
  if (whole.length < bytes.length) return { undecodable: 'half a unit of UTF-16', before };
  return { encoding, ...withoutMark(text) };
}

function decodeUtf8(bytes: Buffer): DecodedText | UndecodableText {
  const text = bytes.toString('utf8');
  const again = Buffer.from(text, 'utf8');
  if (again.equals(bytes)) return { encoding: 'utf-8', ...withoutMark(text) };
  // Invalid bytes became U+FFFD, so the first difference is the first invalid byte.
  let offset = 0;
  while (offset < bytes.length && bytes[offset] === again[offset]) offset++;
  const undecodable = `the byte 0x${(bytes[offset] ?? 0).toString(16).padStart(2, '0')}`;
  return { undecodable, before: bytes.toString('utf8', 0, offset) };
}

/** Splits the byte order mark from the text. */
export function withoutMark(text: string): Pick<DecodedText, 'mark' | 'text'> {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  return { mark, text: text.slice(mark.length) };
}

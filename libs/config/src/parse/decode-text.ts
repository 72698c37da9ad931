import { ConfigError, fileError } from '../config-error.js';
import { describeProblem } from '../problems/describe-problem.js';

/** The largest configuration file, in bytes; a larger one is refused before it is parsed. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

const BYTE_ORDER_MARK = '\uFEFF';

/** A text without its byte order mark, and the mark (or nothing) to put back when saving. */
export interface DecodedText {
  readonly mark: string;
  readonly text: string;
}

/**
 * Turns the bytes of a file into text.
 *
 * @throws ConfigError `tooLarge` above 1 MiB; `invalid` when the bytes are not UTF-8.
 */
export function decodeText(source: string | Uint8Array, file: string): DecodedText {
  const sizeBytes = typeof source === 'string' ? Buffer.byteLength(source) : source.byteLength;
  if (sizeBytes > MAX_CONFIG_BYTES) throw tooLarge(file, `${sizeBytes} bytes`);
  const text = typeof source === 'string' ? source : decodeUtf8(source, file);
  return text.startsWith(BYTE_ORDER_MARK)
    ? { mark: BYTE_ORDER_MARK, text: text.slice(1) }
    : { mark: '', text };
}

/** The refusal of a file above the limit. */
export function tooLarge(file: string, found: string): ConfigError {
  return fileError('tooLarge', file, found, `at most ${MAX_CONFIG_BYTES} bytes`);
}

function decodeUtf8(source: Uint8Array, file: string): string {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  const text = bytes.toString('utf8');
  const again = Buffer.from(text, 'utf8');
  if (again.equals(bytes)) return text;

  // Every bad byte became U+FFFD, so the first one is where the two byte strings part.
  let offset = 0;
  while (offset < bytes.length && bytes[offset] === again[offset]) offset++;
  const before = bytes.toString('utf8', 0, offset);
  const utf16 =
    (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  const problem = describeProblem({
    severity: 'error',
    code: 'notUtf8',
    file,
    line: before.split('\n').length,
    column: before.length - before.lastIndexOf('\n'),
    keyPath: '',
    found: utf16 ? 'UTF-16' : `the byte 0x${(bytes[offset] ?? 0).toString(16).padStart(2, '0')}`,
    expected: 'UTF-8 text',
  });
  throw new ConfigError('invalid', [problem]);
}

import { decodeText, WANTED_TEXT, withoutMark, type DecodedText } from '@wins/trusted-files';
import { contentError, fileError, type ConfigError } from '../config-error.js';
import { placeIn } from '../problems/line-ends.js';

/** The largest configuration file, in bytes; a larger one is refused before it is parsed. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

/**
 * Turns the bytes of a configuration file into text.
 *
 * @throws ConfigError `tooLarge` above 1 MiB; `invalid` when the bytes are no text.
 */
export function decodeConfig(source: string | Uint8Array, file: string): DecodedText {
  const sizeBytes = typeof source === 'string' ? Buffer.byteLength(source) : source.byteLength;
  if (sizeBytes > MAX_CONFIG_BYTES) throw tooLarge(file, `${sizeBytes} bytes`);
  if (typeof source === 'string') return { encoding: 'utf-8', ...withoutMark(source) };
  const decoded = decodeText(source);
  if ('text' in decoded) return decoded;
  throw contentError({
    ...{ code: 'notUtf8', file, keyPath: '', expected: WANTED_TEXT },
    ...placeIn(decoded.before, decoded.before.length),
    found: decoded.undecodable,
  });
}

/** The refusal of a file above the limit. */
export function tooLarge(file: string, found: string): ConfigError {
  return fileError('tooLarge', file, found, `at most ${MAX_CONFIG_BYTES} bytes`);
}

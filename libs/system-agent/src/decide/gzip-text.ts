import { gunzipSync, gzipSync } from 'node:zlib';

const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;

/** Without time and system, so that the first bytes are those of Go's gzip. */
export function gzipText(text: string): Buffer {
  const packed = gzipSync(text);
  packed[8] = 0;
  packed[9] = 0xff;
  return packed;
}

/** Undoes `gzipText`; nothing is an empty text. @throws Error for invalid bytes, or more than 16 MiB of text. */
export function gunzipText(packed: Buffer): string {
  if (packed.length === 0) return '';
  return gunzipSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES }).toString('utf8');
}

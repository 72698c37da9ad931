import { gunzipSync, gzipSync } from 'node:zlib';

/** Far above what a Secret can hold of text; far below what would hurt the node. */
const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;

/** The bytes that Go's gzip begins with: no time, no flags, no system. zlib names its own system. */
export function gzipText(text: string): Buffer {
  const packed = gzipSync(text);
  packed[8] = 0;
  packed[9] = 0xff;
  return packed;
}

/**
 * Undoes `gzipText`; nothing is an empty text.
 *
 * @throws Error when the bytes are no gzip, or more than 16 MiB of text.
 */
export function gunzipText(packed: Buffer): string {
  if (packed.length === 0) return '';
  return gunzipSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES }).toString('utf8');
}

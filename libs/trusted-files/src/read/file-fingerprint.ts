import { lstatSync, statSync } from 'node:fs';
import type { TrustOptions } from '../trust/file-trust.js';

/** Fingerprint of a file's state; equal texts mean the same bytes, unless someone sets times on purpose. */
export type FileFingerprint = 'gone' | 'empty' | (string & {});

/**
 * The state of a file as it is now, by its identity, size and times; its bytes are not read. Take it before the file is read, and
 * again afterwards. A file out of reach is `gone`.
 *
 * @param options - `followLinks`: whether it is about what a link leads to. Default: about the link.
 */
export function fileFingerprint(
  file: string,
  { followLinks = false }: TrustOptions = {},
): FileFingerprint {
  try {
    const stats = (followLinks ? statSync : lstatSync)(file, { bigint: true });
    if (stats.size === 0n) return 'empty';
    return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
  } catch {
    return 'gone';
  }
}

import { lstatSync, statSync } from 'node:fs';
import type { TrustOptions } from '../trust/file-trust.js';

/** Fingerprint of a file's state; equal values mean the same bytes, unless someone sets the file's times on purpose. */
export type FileFingerprint = 'gone' | 'empty' | (string & {});

/**
 * Returns the current state of a file, from its identity, size and times, without reading its bytes. Take it before
 * reading the file and compare it afterwards. An unreachable file is `gone`.
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

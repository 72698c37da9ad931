import { lstatSync, statSync } from 'node:fs';
import type { TrustOptions } from '../trust/file-trust.js';

/** Equal values mean equal bytes, unless someone sets the file's times on purpose. */
export type FileFingerprint = 'gone' | 'empty' | (string & {});

/**
 * Returns a fingerprint of a file's identity, size and times. Does not follow links by default. Take the fingerprint
 * before reading the file, and compare it afterwards. An unreachable file is `gone`.
 */
export function fileFingerprint(file: string, options: TrustOptions = {}): FileFingerprint {
  const { followLinks = false } = options;
  try {
    const stats = (followLinks ? statSync : lstatSync)(file, { bigint: true });
    if (stats.size === 0n) return 'empty';
    return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
  } catch {
    return 'gone';
  }
}

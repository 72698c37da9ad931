import { lstatSync, statSync } from 'node:fs';
import type { TrustOptions } from '../trust/file-trust.js';

/** Fingerprint of a file's state; equal values mean the same bytes, unless someone sets the file's times on purpose. */
export type FileFingerprint = 'gone' | 'empty' | (string & {});

/**
 * Returns the fingerprint of a file, from its identity, size and times; without `followLinks`, that of a link itself. Take
 * it before reading the file and compare it afterwards. An unreachable file is `gone`.
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

import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface TestProgram {
  readonly path: string;
  readonly sha1: string;
  readonly sha256: string;
}

/**
 * Writes an executable script. POSIX only, because it relies on `#!`. Default interpreter: this Node; `/bin/sh`
 * starts much faster.
 */
export function writeTestProgram(
  directory: string,
  name: string,
  source: string,
  interpreter: string = process.execPath,
): TestProgram {
  const file = path.join(directory, name);
  writeFileSync(file, `#!${interpreter}\n${source}\n`);
  // `writeFileSync` would apply the umask to a mode, and ignore the mode if the file exists.
  chmodSync(file, 0o755);
  return { path: file, ...digestsOf(file) };
}

/** Returns the digests of the file in lower-case hexadecimal, as a client sends them. */
export function digestsOf(file: string): { readonly sha1: string; readonly sha256: string } {
  const bytes = readFileSync(file);
  const digest = (algorithm: string) => createHash(algorithm).update(bytes).digest('hex');
  return { sha1: digest('sha1'), sha256: digest('sha256') };
}

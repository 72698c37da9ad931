import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A real program on disk, and what a client must know to run it. */
export interface TestProgram {
  readonly path: string;
  readonly sha1: string;
  readonly sha256: string;
}

/**
 * Writes an executable script (mode 0755) and tells its digests. POSIX only, since it relies on
 * `#!`. The interpreter is this Node by default; `/bin/sh` starts much faster.
 */
export function writeTestProgram(
  directory: string,
  name: string,
  source: string,
  interpreter: string = process.execPath,
): TestProgram {
  const file = path.join(directory, name);
  writeFileSync(file, `#!${interpreter}\n${source}\n`);
  // Not by the mode of the write: that is subject to the umask and ignored for an existing file.
  chmodSync(file, 0o755);
  return { path: file, ...digestsOf(file) };
}

/** The digests of a file, lower-case hexadecimal, as a client computes them. */
export function digestsOf(file: string): { readonly sha1: string; readonly sha256: string } {
  const bytes = readFileSync(file);
  const digest = (algorithm: string) => createHash(algorithm).update(bytes).digest('hex');
  return { sha1: digest('sha1'), sha256: digest('sha256') };
}

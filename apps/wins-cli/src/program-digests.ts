import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { CommandError } from './command-error.js';
import { EXIT } from './exit-codes.js';

/** What the client knows of the program, for the daemon to compare with the host's file. */
export interface ProgramDigests {
  readonly sha1: string;
  readonly sha256: string;
}

const READ_BYTES = 1024 * 1024;

/**
 * Digests of a program as it is seen from here. The daemon runs the program only when the host has
 * the same bytes under the same path.
 *
 * @throws CommandError (127) when there is no such file, or it cannot be read.
 */
export async function digestProgram(path: string): Promise<ProgramDigests> {
  const problem = (found: string, cause?: unknown) =>
    new CommandError(
      `--path ${path}: ${found}; the program must be at the same path here and on the host`,
      EXIT.notFound,
      { cause },
    );
  try {
    if (!(await stat(path)).isFile()) throw problem('not a file');
    const sha1 = createHash('sha1');
    const sha256 = createHash('sha256');
    const file = createReadStream(path, { highWaterMark: READ_BYTES });
    for await (const chunk of file as AsyncIterable<Buffer>) {
      sha1.update(chunk);
      sha256.update(chunk);
    }
    return { sha1: sha1.digest('hex'), sha256: sha256.digest('hex') };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw problem(
      code === 'ENOENT' ? 'no such file' : `cannot be read (${code ?? 'unknown'})`,
      error,
    );
  }
}

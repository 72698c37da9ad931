import { errnoOf, EXIT } from '@wins/wins-program';
import { statSync } from 'node:fs';
import { CommandError } from '../command-error.js';
import { digestFile } from './digest-file.js';

/** What the client knows of the program, for the daemon to compare with the host's file. */
export interface ProgramDigests {
  readonly sha1: string;
  readonly sha256: string;
}

/**
 * Digests of a program as it is seen from here. The daemon runs the program only when the host has
 * the same bytes under the same path.
 *
 * @throws CommandError (127) when there is no such file, or it cannot be read.
 */
export function digestProgram(path: string): ProgramDigests {
  const problem = (found: string, cause?: unknown) =>
    new CommandError(
      `--path ${path}: ${found}; the program must be at the same path here and on the host`,
      EXIT.client.notFound,
      { cause },
    );
  try {
    // Looked at before it is opened: opening a FIFO would wait for a writer.
    if (!statSync(path).isFile()) throw problem('not a file');
    return digestFile(path, ['sha1', 'sha256']);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const code = errnoOf(error);
    throw problem(
      code === 'ENOENT' ? 'no such file' : `cannot be read (${code ?? 'unknown'})`,
      error,
    );
  }
}

import { hashFile, TrustedFileError } from '@wins/trusted-files';
import { errnoOf, EXIT } from '@wins/base';
import { CommandError } from '../command-error.js';

export interface ProgramDigests {
  readonly sha1: string;
  readonly sha256: string;
}

/** The daemon requires the same bytes at `path` on the host. @throws CommandError (127) if the file is unreadable. */
export async function digestProgram(path: string, option = '--path'): Promise<ProgramDigests> {
  try {
    return await hashFile(path, ['sha1', 'sha256'], { followLinks: true });
  } catch (error) {
    if (!(error instanceof TrustedFileError)) throw error;
    throw new CommandError(
      `${option} ${path}: ${foundBy(error)}; it must be at the same path here and on the host`,
      EXIT.client.notFound,
      { cause: error },
    );
  }
}

function foundBy({ code, cause, found }: TrustedFileError): string {
  if (code === 'notRegularFile') return 'not a file';
  return errnoOf(cause) === 'ENOENT' ? 'no such file' : `cannot be read: ${found}`;
}

import { errnoOf, quoteText } from '@wins/wins-program';
import { ProcessError, type ProcessErrorCode } from './process-error.js';

/** Translates a failure of the file system; an error of this library passes unchanged. */
export function fileError(
  error: unknown,
  tried: string,
  path: string,
  otherwise: ProcessErrorCode,
): ProcessError {
  if (error instanceof ProcessError) return error;
  const message = `${tried} ${quoteText(path)}: ${said(error)}`;
  switch (errnoOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new ProcessError('notFound', message, { cause: error, path });
    case 'ELOOP':
      return new ProcessError('pathNotTrusted', message, {
        cause: error,
        path,
        rule: 'A7 symbolic link',
      });
    default:
      return new ProcessError(otherwise, message, { cause: error, path });
  }
}

function said(error: unknown): string {
  return errnoOf(error) ?? String(error);
}

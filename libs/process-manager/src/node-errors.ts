import { errnoOf, quoteText } from '@wins/wins-program';
import { TrustedFileError } from '@wins/trusted-files';
import { ProcessError, type ProcessErrorCode } from './process-error.js';

/** Translates a failure of the file system; an error of this library passes unchanged. */
export function fileError(
  error: unknown,
  tried: string,
  path: string,
  otherwise: ProcessErrorCode,
): ProcessError {
  if (error instanceof ProcessError) return error;
  if (!(error instanceof TrustedFileError)) {
    const message = `${tried} ${quoteText(path)}: ${errnoOf(error) ?? String(error)}`;
    return new ProcessError(otherwise, message, { cause: error, path });
  }
  const message = `${tried} ${quoteText(path)}: ${error.found}`;
  const cause = error.cause ?? error;
  switch (error.code) {
    case 'notFound':
      return new ProcessError('notFound', message, { cause, path });
    case 'notTrusted':
      return new ProcessError('pathNotTrusted', message, {
        ...{ cause, path },
        rule: error.rule ?? 'A7 symbolic link',
      });
    case 'notRegularFile':
      return new ProcessError('pathNotTrusted', message, {
        ...{ cause, path },
        rule: 'A7 not a regular file',
      });
    default:
      return new ProcessError(otherwise, message, { cause, path });
  }
}

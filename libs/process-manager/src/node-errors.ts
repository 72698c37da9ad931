import { TrustedFileError } from '@wins/trusted-files';
import { ProcessError, type ProcessErrorCode } from './process-error.js';
import { quoteText } from './quote-text.js';

/** The errno name of a Node error, for example `ENOENT`; undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  // By shape: an error may come from another realm, where `instanceof Error` is false.
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

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

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

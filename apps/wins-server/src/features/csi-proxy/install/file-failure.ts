import { fileSystemError, TrustedFileError } from '@wins/trusted-files';
import { messageOf } from '@wins/wins-program';
import { CsiProxyError } from '../csi-proxy-error.js';

/** Does something with a file of ours. @throws CsiProxyError `fileFailed`, with what was tried on what; errors of this library as they are. */
export async function withFile<Result>(
  tried: string,
  file: string,
  act: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof CsiProxyError) throw error;
    const cause = fileSystemError(error, tried, file);
    const found =
      cause instanceof TrustedFileError
        ? `${cause.at === file ? '' : `of ${cause.at}: `}${cause.found}`
        : messageOf(error);
    throw new CsiProxyError('fileFailed', `cannot ${tried} ${file}: ${found}`, { cause });
  }
}

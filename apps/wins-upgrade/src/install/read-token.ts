import { InstallError } from '@wins/node-install';
import { openRegularFile, readText } from '@wins/trusted-files';
import { messageOf, quoteText } from '@wins/wins-program';

const MAX_BYTES = 16 * 1024;

/**
 * The token of a file, without line breaks and blanks around it. It is not taken as a word of the command line, which every process of
 * the system can read.
 *
 * @throws InstallError `usage`.
 */
export async function readToken(file: string | undefined): Promise<{ readonly token?: string }> {
  if (file === undefined) return {};
  try {
    const opened = await openRegularFile(file, { followLinks: true });
    try {
      const token = (await readText(opened, { maxBytes: MAX_BYTES })).trim();
      if (token !== '') return { token };
    } finally {
      await opened.handle.close();
    }
  } catch (error) {
    const message = `cannot read --token-file ${quoteText(file)}: ${messageOf(error)}`;
    throw new InstallError('usage', message, { cause: error });
  }
  throw new InstallError(
    'usage',
    `cannot use --token-file ${quoteText(file)}: found nothing in it`,
  );
}

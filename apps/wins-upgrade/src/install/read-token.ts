import { InstallError } from '@wins/node-install';
import { decodeAnyway, readBytes } from '@wins/trusted-files';
import { messageOf, quoteText } from '@wins/wins-program';

const MAX_BYTES = 16 * 1024;

/**
 * The token of a file, without line breaks and blanks around it. It is not taken as a word of the command line, which every process of
 * the system can read.
 *
 * @throws InstallError `usage`.
 */
export async function readToken(file: string): Promise<string> {
  const read = readBytes(file, { followLinks: true, maxBytes: MAX_BYTES });
  const bytes = await read.catch((error: unknown) => {
    const message = `cannot read --token-file ${quoteText(file)}: ${messageOf(error)}`;
    throw new InstallError('usage', message, { cause: error });
  });
  const token = decodeAnyway(bytes).trim();
  if (token !== '') return token;
  const message = `cannot use --token-file ${quoteText(file)}: found nothing in it`;
  throw new InstallError('usage', message);
}

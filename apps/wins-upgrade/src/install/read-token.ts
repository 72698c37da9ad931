import { InstallError } from '@wins/node-install';
import { decodeText, readBytes, WANTED_TEXT } from '@wins/trusted-files';
import { messageOf, quoteText } from '@wins/wins-program';

const MAX_BYTES = 16 * 1024;

/**
 * The token of a file, without line breaks and blanks around it. It is not taken as a word of the command line, which every process of
 * the system can read.
 *
 * @throws InstallError `usage`.
 */
export async function readToken(file: string): Promise<string> {
  const refused = (tried: string, found: string, cause?: unknown) =>
    new InstallError('usage', `cannot ${tried} --token-file ${quoteText(file)}: ${found}`, {
      cause,
    });
  const read = readBytes(file, { followLinks: true, maxBytes: MAX_BYTES });
  const decoded = decodeText(
    await read.catch((error: unknown) => {
      throw refused('read', messageOf(error), error);
    }),
  );
  if ('undecodable' in decoded)
    throw refused('read', `found ${decoded.undecodable}; wanted ${WANTED_TEXT}`);
  const token = decoded.text.trim();
  if (token !== '') return token;
  throw refused('use', 'found nothing in it');
}

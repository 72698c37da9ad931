import { TrustedFileError } from '../trusted-file-error.js';
import { decodeText, WANTED_TEXT } from './decode-text.js';
import type { ReadableFile } from './open-file.js';
import { readWhole, type ReadLimits } from './read-blocks.js';

/**
 * Reads the text of an open file, in whichever encoding people and PowerShell save it; see {@link decodeText}.
 *
 * @returns Without the byte order mark.
 * @throws TrustedFileError `notText`; as `readWhole`.
 */
export async function readText(file: ReadableFile, limits: ReadLimits): Promise<string> {
  const decoded = decodeText(await readWhole(file, limits));
  if ('text' in decoded) return decoded.text;
  const found = `found ${decoded.undecodable}; wanted ${WANTED_TEXT}`;
  throw new TrustedFileError('notText', 'read', file.path, found);
}

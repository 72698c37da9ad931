import { decodeAnyway, readBytes, replaceFile, unlessNotFound } from '@wins/trusted-files';
import { rm } from 'node:fs/promises';
import type * as z from 'zod';
import { InstallError } from '../install-error.js';

const MAX_BYTES = 16 * 1024 * 1024;
/** Room for the lines that come behind the first one. */
const MAX_FIRST_BYTES = MAX_BYTES / 2;

/** The text of a file; undefined when there is none. @throws TrustedFileError, also for more than 16 MiB and for a link. */
export async function readIfThere(file: string): Promise<string | undefined> {
  const bytes = await readBytesIfThere(file);
  return bytes && decodeAnyway(bytes);
}

/** The bytes of a file; as {@link readIfThere}. */
export function readBytesIfThere(file: string): Promise<Buffer | undefined> {
  return readBytes(file, { maxBytes: MAX_BYTES }).catch(unlessNotFound);
}

/**
 * The line of JSON that a file of ours begins with. What could not be read again would leave a node that no command can finish or undo.
 *
 * @param what - As the end of "cannot".
 * @throws InstallError `refused`.
 */
export function readableJson(schema: z.ZodType, value: object, what: string, indent = 0): string {
  const text = `${JSON.stringify(value, null, indent)}\n`;
  const refused = (found: string): InstallError =>
    new InstallError('refused', `cannot ${what}: found ${found}`);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_FIRST_BYTES)
    throw refused(`${bytes} bytes; wanted at most ${MAX_FIRST_BYTES} in all`);
  if (schema.safeParse(JSON.parse(text)).success) return text;
  const wanted = 'wanted at most 1000 things, each value of at most 32767 characters';
  throw refused(`more, or longer values, than it could be read with; ${wanted}`);
}

/** Replaces a file of our private folder as one durable act. What a crash left of an earlier one does not pile up. */
export async function replaceOwn(file: string, text: string): Promise<void> {
  const temporary = `${file}.tmp`;
  await rm(temporary, { force: true });
  await replaceFile(file, text, { temporary });
}

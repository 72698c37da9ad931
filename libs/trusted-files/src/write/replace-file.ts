import { type PendingOptions, type PlaceOptions, writePendingFile } from './pending-file.js';

/** How a file is replaced. */
export interface ReplaceOptions extends PlaceOptions, Partial<PendingOptions> {
  /** A path in the same folder. Default: a hidden name that cannot be guessed. */
  readonly temporary?: string | undefined;
}

/**
 * Puts a new file in the place of a file, or where there is none, as one durable act: a process that opens it, after a loss of
 * power too, finds the old content or the new one. When it fails, the old file is untouched and nothing is left behind.
 *
 * @param options - `mode`: default 0600. Without `isFlushed` and `isDurable` only the name is replaced as one act.
 * @throws TrustedFileError `notFound` (no folder), `accessDenied`, `alreadyExists` (the temporary name), `notRegularFile`,
 *   `inUse`, `noSpace`, `unknown`.
 */
export async function replaceFile(
  path: string,
  content: Uint8Array | string,
  { mode = 0o600, owner, isFlushed, temporary, ...place }: ReplaceOptions = {},
): Promise<void> {
  const rights = { mode, owner, isFlushed };
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const pending = await writePendingFile(path, rights, (write) => write(bytes, 0), temporary);
  await pending.place(place);
}

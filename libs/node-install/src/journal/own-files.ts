import { openRegularFile, readWhole, replaceFile, TrustedFileError } from '@wins/trusted-files';
import { rm } from 'node:fs/promises';

const MAX_BYTES = 16 * 1024 * 1024;

/** The text of a file; undefined when there is none. @throws TrustedFileError, also for more than 16 MiB and for a link. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    const opened = await openRegularFile(file);
    try {
      return (await readWhole(opened, { maxBytes: MAX_BYTES })).toString('utf8');
    } finally {
      await opened.handle.close();
    }
  } catch (error) {
    if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
    throw error;
  }
}

/** Replaces a file of our private folder as one durable act. What a crash left of an earlier one does not pile up. */
export async function replaceOwn(file: string, text: string): Promise<void> {
  const temporary = `${file}.tmp`;
  await rm(temporary, { force: true });
  await replaceFile(file, text, { temporary });
}

import { quoteText } from '@wins/base';
import { stat } from 'node:fs/promises';

import { ProcessError } from '../process-error.js';

/** @throws ProcessError `directoryNotFound` unless the path names a directory. */
export async function assertDirectory(path: string): Promise<void> {
  let found = 'it is not a directory';
  let cause: unknown;
  try {
    if ((await stat(path)).isDirectory()) return;
  } catch (error) {
    cause = error;
    found = String(error);
  }
  const message = `cannot use the working directory ${quoteText(path)}: ${found}`;
  throw new ProcessError('directoryNotFound', message, { path, cause });
}

import { lstatSync, mkdirSync } from 'node:fs';

import { ProcessError } from '../process-error.js';
import { quoteText } from '../quote-text.js';

/**
 * Creates the directory (mode 0700, with its parents) or checks that it is one that only we can
 * use: no symbolic link, our own, nothing for group and others.
 *
 * @throws ProcessError `stateUnavailable`.
 */
export function ensurePrivatePosixDirectory(path: string, ownUid: number): void {
  const tried = `cannot keep state in ${quoteText(path)}`;
  let found: string | undefined;
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const stats = lstatSync(path);
    if (!stats.isDirectory()) found = 'it is not a directory';
    else if (stats.uid !== ownUid) found = `it belongs to user ${stats.uid}`;
    else if ((stats.mode & 0o077) !== 0) found = 'group or others have access';
  } catch (error) {
    throw new ProcessError('stateUnavailable', `${tried}: ${String(error)}`, {
      cause: error,
      path,
    });
  }
  if (found === undefined) return;
  throw new ProcessError(
    'stateUnavailable',
    `${tried}: ${found}; wanted a directory of mode 0700 that belongs to user ${ownUid}`,
    { path },
  );
}

import { posix } from 'node:path';
import { quoteText } from './text/escape-text.js';
import { TextError } from './text/text-error.js';

/**
 * Returns the folder for sockets of bare pipe names on POSIX: `WINS_RUNTIME_DIR`; else `/run/rancher-wins` for root,
 * `$XDG_RUNTIME_DIR/rancher-wins` for others. An empty variable counts as unset. Does not access the file system.
 *
 * @throws TextError `notFound` when no variable is set; `invalidName` for a path that is relative or has "..".
 */
export function runtimeDirectory(
  environment: NodeJS.ProcessEnv = process.env,
  uid: number | undefined = process.getuid?.(),
): string {
  if (environment['WINS_RUNTIME_DIR'])
    return plainAbsolute('WINS_RUNTIME_DIR', environment['WINS_RUNTIME_DIR']);
  if (uid === 0) return '/run/rancher-wins';
  if (environment['XDG_RUNTIME_DIR'])
    return posix.join(
      plainAbsolute('XDG_RUNTIME_DIR', environment['XDG_RUNTIME_DIR']),
      'rancher-wins',
    );
  throw new TextError(
    'notFound',
    'cannot locate the pipes of this user: WINS_RUNTIME_DIR and XDG_RUNTIME_DIR are unset; ' +
      'set WINS_RUNTIME_DIR to a directory that only this user can write',
  );
}

function plainAbsolute(variable: string, value: string): string {
  const plain = posix.normalize(value).replace(/(.)\/$/, '$1');
  if (!posix.isAbsolute(value) || value.split('/').includes('..') || value.includes('\0'))
    throw new TextError(
      'invalidName',
      `cannot use ${variable}=${quoteText(value)}: it must be an absolute path without ".."`,
    );
  return plain;
}

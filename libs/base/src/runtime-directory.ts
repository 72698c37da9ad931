import { posix } from 'node:path';
import { quoteText } from './escape-text.js';
import { TextError } from './text-error.js';

/**
 * Returns the private directory for the sockets of bare pipe names on POSIX: `WINS_RUNTIME_DIR` if set; else
 * `/run/rancher-wins` for root; else `$XDG_RUNTIME_DIR/rancher-wins`. An empty variable counts as unset. Does not
 * access the file system.
 *
 * @throws TextError `notFound` when nothing names a directory; `invalidName` for one that is no plain absolute path.
 */
export function runtimeDirectory(
  env: NodeJS.ProcessEnv = process.env,
  uid: number | undefined = process.getuid?.(),
): string {
  if (env['WINS_RUNTIME_DIR']) return plainAbsolute('WINS_RUNTIME_DIR', env['WINS_RUNTIME_DIR']);
  if (uid === 0) return '/run/rancher-wins';
  if (env['XDG_RUNTIME_DIR'])
    return posix.join(plainAbsolute('XDG_RUNTIME_DIR', env['XDG_RUNTIME_DIR']), 'rancher-wins');
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

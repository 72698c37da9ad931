import path from 'node:path';

declare const canonical: unique symbol;

/**
 * Absolute path in the one spelling that the system uses for it: without `.`, `..` and doubled separators, on Windows also
 * without `/`. Links in it are not resolved. Only {@link canonicalPath} makes one, so that a check which compares paths
 * never gets the words of a config.
 */
export type CanonicalPath = string & { readonly [canonical]: true };

/**
 * Resolves a path as the system does. A relative path starts at the working directory. Keeps a dot or a blank at the end
 * of a name, which Windows would drop, so that a later check can refuse the name.
 *
 * @param dialect - Default: that of this system.
 */
export function canonicalPath(
  file: string,
  dialect: 'windows' | 'posix' = process.platform === 'win32' ? 'windows' : 'posix',
): CanonicalPath {
  const rules = dialect === 'windows' ? path.win32 : path.posix;
  return rules.resolve(file) as CanonicalPath;
}

/**
 * The canonical path of a file of this host. Undefined for a relative path, whose meaning could change. On Windows also undefined for
 * a path outside the drives of the host, because the host does not control who may write there.
 */
export function localPath(written: string, platform: NodeJS.Platform): CanonicalPath | undefined {
  if (platform !== 'win32')
    return path.posix.isAbsolute(written) ? canonicalPath(written, 'posix') : undefined;
  return /^[A-Za-z]:[\\/]/.test(written) ? canonicalPath(written, 'windows') : undefined;
}

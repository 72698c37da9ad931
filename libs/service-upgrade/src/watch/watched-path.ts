import path from 'node:path';

/**
 * The path of a watched file in the spelling of the system; undefined for one that is not absolute, or on Windows on no drive of
 * this host: what it means could change, or who may write there is not for this host to say.
 */
export function watchedPath(written: string, platform: NodeJS.Platform): string | undefined {
  if (platform !== 'win32') {
    return path.posix.isAbsolute(written) ? path.posix.resolve(written) : undefined;
  }
  return /^[A-Za-z]:[\\/]/.test(written) ? path.win32.resolve(written) : undefined;
}

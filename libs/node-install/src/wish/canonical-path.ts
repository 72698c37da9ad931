import { onSystemDrive } from '@wins/wins-program';
import path from 'node:path';

/** What no path of an installation may hold: some of it would leave a command line, a list of folders or a line of a log. */
const REFUSED = /[\p{C}\p{Zl}\p{Zp}"<>|?*;%]/u;
const MAX_CHARACTERS = 200;
/** Names of Windows that are devices wherever they stand. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/i;

/**
 * The one spelling of a path of a person: absolute, on a drive of this machine, without detours. On Windows one that begins with a
 * slash lies on the system drive.
 *
 * @returns Undefined for a path that is not taken: a relative one, one with `..`, of another machine or a device, with a character
 *   that a command line, a list of folders or a log could take for something else, or of more than 200 characters.
 */
export function canonicalPath(text: string, platform: NodeJS.Platform): string | undefined {
  if (text.length > MAX_CHARACTERS || REFUSED.test(text)) return undefined;
  if (platform !== 'win32') {
    if (!path.posix.isAbsolute(text) || text.includes(':') || text.includes('\\')) return undefined;
    return steps(text.split('/'), (names) => `/${names.join('/')}`);
  }
  const [, drive, rest] = /^([a-z]):[\\/](.*)$/is.exec(onSystemDrive(text, platform)) ?? [];
  if (drive === undefined || rest === undefined || rest.includes(':')) return undefined;
  return steps(rest.split(/[\\/]/), (names) => {
    // Windows drops what ends with a dot or a blank, so such a name means another.
    if (names.some((name) => DEVICE.test(name) || /[. ]$/.test(name))) return undefined;
    return `${drive.toUpperCase()}:\\${names.join('\\')}`;
  });
}

function steps(
  names: readonly string[],
  join: (names: readonly string[]) => string | undefined,
): string | undefined {
  if (names.some((name) => name === '..' || name === '.')) return undefined;
  return join(names.filter((name) => name !== ''));
}

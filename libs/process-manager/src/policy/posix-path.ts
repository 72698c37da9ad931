import { hasUnprintable, type ParsedPath, type PathRefusal } from './parsed-path.js';

const MAX_BYTES = 4_095;

/**
 * Reads a POSIX path by its spelling alone: absolute, no `.` or `..`, nothing invisible, at most
 * 4,095 bytes. Repeated slashes collapse; a backslash, a `%` and a blank are ordinary characters.
 */
export function parsePosixPath(path: string): ParsedPath | PathRefusal {
  if (path === '' || Buffer.byteLength(path) > MAX_BYTES) {
    return { refused: 'A11 empty or over-long path' };
  }
  if (hasUnprintable(path)) return { refused: 'A13 control or invisible character' };
  if (!path.startsWith('/')) return { refused: 'A11 not absolute' };
  const segments = path.slice(1).split('/');
  const names = segments.filter((segment) => segment !== '');
  if (names.some((name) => name === '.' || name === '..')) {
    return { refused: 'A11 relative segment' };
  }
  const canonical = `/${names.join('/')}`;
  return {
    canonical,
    key: canonical,
    baseName: names.at(-1) ?? '',
    namesDirectory: segments.at(-1) === '',
  };
}

import type { ParsedPath, PathDialect, PathRefusal } from './parsed-path.js';
import { parsePosixPath } from './posix-path.js';
import { parseWindowsPath } from './windows-path.js';

/** Reads a path of the given dialect by its spelling; no file is touched. */
export function parsePath(path: string, dialect: PathDialect): ParsedPath | PathRefusal {
  return dialect === 'windows' ? parseWindowsPath(path) : parsePosixPath(path);
}

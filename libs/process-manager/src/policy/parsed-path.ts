import type { PathRule } from './path-rule.js';

/** How paths are spelt and compared: Windows (`C:\x`, any ASCII case) or POSIX (`/x`, exact). */
export type PathDialect = 'windows' | 'posix';

/** A path whose spelling holds nothing that an operating system would reinterpret. */
export interface ParsedPath {
  /** The one spelling used from here on: single separators, upper-case drive letter. */
  readonly canonical: string;
  /** Two paths name the same file by their spelling exactly when their keys are equal. */
  readonly key: string;
  /** The last segment; empty for a root. */
  readonly baseName: string;
  /** The path ended with a separator, so it can only mean a directory. */
  readonly namesDirectory: boolean;
}

/** Why a spelling was refused. */
export interface PathRefusal {
  readonly refused: PathRule;
}

// Controls, format characters (bidirectional and zero-width among them), lone surrogates, line
// separators, and the mark that a decoder leaves where bytes were not valid UTF-8.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\uFFFD]/u;

/** True when the text holds a character that a reader of a log or a rule could not see. */
export function hasUnprintable(text: string): boolean {
  return UNPRINTABLE.test(text);
}

/**
 * Lower-cases A to Z and nothing else: full case folding would make U+212A (Kelvin) a `k`, and a
 * different file would pass for the listed one.
 */
export function foldAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

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

const MAX_LENGTH = 32_767;
const DEVICE_NAME = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])$/;

/**
 * Reads a Windows path by its spelling alone. Everything that Win32 would reinterpret before it
 * opens a file is refused rather than cleaned; only `/` for `\` and doubled separators are
 * accepted. At most 32,767 UTF-16 units.
 */
export function parseWindowsPath(path: string): ParsedPath | PathRefusal {
  if (path === '' || path.length > MAX_LENGTH) return { refused: 'A11 empty or over-long path' };
  if (hasUnprintable(path)) return { refused: 'A13 control or invisible character' };
  if (/^[\\/]{2}[?.](?:[\\/]|$)/.test(path) || /^[\\/]\?\?/.test(path)) {
    return { refused: 'A4 device namespace' };
  }
  if (/^[\\/]{2}/.test(path)) return { refused: 'A10 network path' };
  if (!/^[A-Za-z]:[\\/]/.test(path)) return { refused: 'A11 not absolute' };
  if (path.includes(':', 2)) return { refused: 'A6 alternate data stream' };
  if (path.includes('%')) return { refused: 'A14 environment expansion' };
  if (/[<>"|?*]/.test(path)) return { refused: 'A13 character not possible in a file name' };

  const segments = path.slice(3).split(/[\\/]/);
  const names = segments.filter((segment) => segment !== '');
  for (const name of names) {
    const refused = refusedSegment(name);
    if (refused !== undefined) return { refused };
  }
  const canonical = `${path.slice(0, 1).toUpperCase()}:\\${names.join('\\')}`;
  return {
    canonical,
    key: foldAscii(canonical),
    baseName: names.at(-1) ?? '',
    namesDirectory: segments.at(-1) === '',
  };
}

function refusedSegment(name: string): PathRule | undefined {
  if (name === '.' || name === '..') return 'A11 relative segment';
  if (/[. ]$/.test(name)) return 'A5 trailing dot or space';
  if (/~[0-9]/.test(name)) return 'A3 short (8.3) name';
  const stem = name.split('.', 1)[0] ?? '';
  if (DEVICE_NAME.test(foldAscii(stem.trimEnd()))) return 'A9 device name';
  return undefined;
}

/** Reads a path of the given dialect by its spelling; no file is touched. */
export function parsePath(path: string, dialect: PathDialect): ParsedPath | PathRefusal {
  return dialect === 'windows' ? parseWindowsPath(path) : parsePosixPath(path);
}

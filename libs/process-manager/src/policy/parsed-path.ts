import { canonicalPath, foldAscii, type CanonicalPath } from '@wins/base';

/** Rules that refuse the spelling of a path, numbered as in docs/threat-model.md. For audit records, not messages. */
export type PathRule =
  | 'A3 short (8.3) name'
  | 'A4 device namespace'
  | 'A5 trailing dot or space'
  | 'A6 alternate data stream'
  | 'A9 device name'
  | 'A10 network path'
  | 'A11 empty or over-long path'
  | 'A11 names a directory'
  | 'A11 not absolute'
  | 'A11 relative segment'
  | 'A13 character not possible in a file name'
  | 'A13 control or invisible character'
  | 'A14 environment expansion'
  | 'A20 batch file'
  | 'A20 no program'
  | 'name reserved for verified copies';

const WORDS: Readonly<Record<PathRule, string>> = {
  'A3 short (8.3) name': 'it contains a short (8.3) name; wanted the long one',
  'A4 device namespace': 'it is in a device namespace; wanted a path on a drive',
  'A5 trailing dot or space': 'a name in it ends with a dot or a space; wanted names without',
  'A6 alternate data stream': 'it is an alternate data stream; wanted the file',
  'A9 device name': 'it contains the name of a device; wanted a file',
  'A10 network path': 'it is on another machine; wanted a path on a drive of the host',
  'A11 empty or over-long path': 'it is empty or too long; wanted an absolute path',
  'A11 names a directory': 'it names a folder; wanted a program',
  'A11 not absolute': 'it is not absolute; wanted the whole path',
  'A11 relative segment': 'it has "." or ".." in it; wanted the resolved path',
  'A13 character not possible in a file name':
    'it has one of < > " | ? * in it, which file names cannot have; wanted the path of one program',
  'A13 control or invisible character':
    'it has a control or invisible character in it; wanted none',
  'A14 environment expansion':
    'it has "%" in it, but variables are not expanded; wanted the path itself',
  'A20 batch file': 'it is a batch file, which needs a shell; wanted a program',
  'A20 no program':
    'it has the extension of a script or a document, which Windows cannot start; wanted a program',
  'name reserved for verified copies':
    'its name begins with "rancher-wins-", which is reserved for verified copies; wanted another name',
};

/** Completes the message "cannot run X: …". */
export function describePathRule(rule: PathRule): string {
  return WORDS[rule];
}

/** Prefix of every process name and every verified copy. */
export const PROCESS_NAME_PREFIX = 'rancher-wins-';

/** Name under which clients know a run, such as `rancher-wins-nginx`. Drops one trailing `.exe`, ignoring case. */
export function processName(baseName: string): string {
  const bare = /^.+\.exe$/i.test(baseName) ? baseName.slice(0, -4) : baseName;
  return PROCESS_NAME_PREFIX + bare;
}

/** Ignores the case of A to Z on Windows. */
export function nameKey(name: string, dialect: PathDialect): string {
  return dialect === 'windows' ? foldAscii(name) : name;
}

/** The verified copy lies beside the executable. */
export function stagedPathOf(executable: ParsedPath): string {
  const directory = executable.canonical.slice(0, -executable.baseName.length);
  return directory + PROCESS_NAME_PREFIX + executable.baseName;
}

/** Digits of the run's mark in the name of a copy of its own. */
const COPY_MARK_DIGITS = 8;

/** Verified copy of one detached run, so that several runs of a program live side by side: `rancher-wins-nginx.0a1b2c3d.exe`. */
export function ownCopyOf(stagedPath: string, mark: string): string {
  const { stem, extension } = partsOfCopy(stagedPath);
  return `${stem}.${mark.slice(0, COPY_MARK_DIGITS)}${extension}`;
}

export function isOwnCopy(stagedPath: string, mark: string): boolean {
  return partsOfCopy(stagedPath).stem.endsWith(`.${mark.slice(0, COPY_MARK_DIGITS)}`);
}

/** Returns the beginning of the mark of the run whose own copy has this name; undefined for any other file. */
export function markOfCopy(name: string, stagedName: string): string | undefined {
  const { stem, extension } = partsOfCopy(stagedName);
  const digits = name.slice(stem.length + 1, name.length - extension.length);
  const isMark = digits.length === COPY_MARK_DIGITS && /^[0-9a-f]+$/.test(digits);
  return isMark && name === `${stem}.${digits}${extension}` ? digits : undefined;
}

function partsOfCopy(stagedPath: string): { readonly stem: string; readonly extension: string } {
  const extension = /\.(?:exe|com)$/i.exec(stagedPath)?.[0] ?? '';
  return { stem: stagedPath.slice(0, stagedPath.length - extension.length), extension };
}

/** Windows (`C:\x`, ignoring ASCII case) or POSIX (`/x`, exact). */
export type PathDialect = 'windows' | 'posix';

/** A path whose spelling has no part that an operating system would reinterpret. */
export interface ParsedPath {
  /** Canonical spelling: single separators, upper-case drive letter. */
  readonly canonical: CanonicalPath;
  /** Key for comparison: spellings with equal keys name the same file. */
  readonly key: string;
  /** The last segment; empty for a root. */
  readonly baseName: string;
  /** True when the path ended with a separator. */
  readonly namesDirectory: boolean;
}

export interface PathRefusal {
  readonly refused: PathRule;
}

// Characters that are invisible in a log or a rule. U+FFFD replaces invalid UTF-8.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\uFFFD]/u;

const MAX_BYTES = 4_095;

/** Repeated slashes collapse. A backslash, a `%` and a blank are ordinary characters. */
function parsePosixPath(path: string): ParsedPath | PathRefusal {
  if (path === '' || Buffer.byteLength(path) > MAX_BYTES)
    return { refused: 'A11 empty or over-long path' };
  if (UNPRINTABLE.test(path)) return { refused: 'A13 control or invisible character' };
  if (!path.startsWith('/')) return { refused: 'A11 not absolute' };
  const segments = path.slice(1).split('/');
  const names = segments.filter((segment) => segment !== '');
  if (names.some((name) => name === '.' || name === '..'))
    return { refused: 'A11 relative segment' };
  const canonical = canonicalPath(`/${names.join('/')}`, 'posix');
  return parsed(canonical, canonical, segments, names);
}

function parsed(
  canonical: CanonicalPath,
  key: string,
  segments: readonly string[],
  names: readonly string[],
): ParsedPath {
  const baseName = names.at(-1) ?? '';
  return { canonical, key, baseName, namesDirectory: segments.at(-1) === '' };
}

const MAX_LENGTH = 32_767;
export const DEVICE_NAME =
  /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])$/;

/** Refuses every part that Win32 would reinterpret. Normalises only separators and the drive letter. */
function parseWindowsPath(path: string): ParsedPath | PathRefusal {
  if (path === '' || path.length > MAX_LENGTH) return { refused: 'A11 empty or over-long path' };
  if (UNPRINTABLE.test(path)) return { refused: 'A13 control or invisible character' };
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
  const drive = path.slice(0, 1).toUpperCase();
  const canonical = canonicalPath(`${drive}:\\${names.join('\\')}`, 'windows');
  return parsed(canonical, foldAscii(canonical), segments, names);
}

function refusedSegment(name: string): PathRule | undefined {
  if (name === '.' || name === '..') return 'A11 relative segment';
  if (/[. ]$/.test(name)) return 'A5 trailing dot or space';
  if (/~[0-9]/.test(name)) return 'A3 short (8.3) name';
  const stem = name.split('.', 1)[0] ?? '';
  if (DEVICE_NAME.test(foldAscii(stem.trimEnd()))) return 'A9 device name';
  return undefined;
}

export function parsePath(path: string, dialect: PathDialect): ParsedPath | PathRefusal {
  return dialect === 'windows' ? parseWindowsPath(path) : parsePosixPath(path);
}

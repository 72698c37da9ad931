import type { PathRule } from './path-rule.js';
import { foldAscii, hasUnprintable, type ParsedPath, type PathRefusal } from './parsed-path.js';

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

import { quoteText } from '@wins/wins-program';

/** What is looked for, in exactly this spelling. */
export const PROGRAM_NAME = 'csi-proxy.exe';

/** What is done with an entry: it is the program, it is something else, or the archive is refused for it. */
export type EntryVerdict =
  | { readonly is: 'program' | 'other' }
  | { readonly is: 'refused'; readonly found: string; readonly wanted: string };

const MAX_LENGTH = 1024;
/** What Windows reads as a separator, a drive, a stream, a wildcard, or leaves out at the end of a name. */
// eslint-disable-next-line no-control-regex -- they are what is refused
const ODD = /[<>:"|?*\\\u0000-\u001f]|[. ]$/;
/** Devices, with any ending: `NUL.txt` is the device too. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])[ ]*(?:\.|$)/i;

/**
 * Judges an entry of an archive by its name and kind. Nothing but the program is ever written, under a name of our own; whoever makes an archive
 * with a name that leads elsewhere, or with links, means no good: it is refused as a whole. Pure.
 *
 * @param type - As tar-stream names it; null for a kind that it does not know.
 */
export function judgeEntry(name: string, type: string | null): EntryVerdict {
  const refuse = (found: string, wanted: string): EntryVerdict => ({
    is: 'refused',
    found: `${quoteText(name, { maxLength: 128 })}, ${found}`,
    wanted,
  });
  const isFolder = type === 'directory';
  if (type !== 'file' && !isFolder)
    return refuse(`a ${type ?? 'kind that is not known'}`, 'files and folders alone');
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  const fault = faultOf(name, parts);
  if (fault !== undefined) return refuse(fault, 'a path below the root of the archive');
  const base = parts.at(-1) ?? '';
  if (base.toLowerCase() !== PROGRAM_NAME) return { is: 'other' };
  if (isFolder) return refuse('a folder', 'a file of that name');
  // Two spellings are one name on Windows.
  return base === PROGRAM_NAME
    ? { is: 'program' }
    : refuse('in another spelling', `${PROGRAM_NAME}, spelled so`);
}

function faultOf(name: string, parts: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return `a name of ${name.length} characters`;
  if (name.startsWith('/')) return 'an absolute path';
  if (parts.includes('..')) return 'a step out of its folder';
  if (parts.some((part) => ODD.test(part))) return 'a name that Windows does not allow';
  return parts.some((part) => DEVICE.test(part)) ? 'the name of a device' : undefined;
}

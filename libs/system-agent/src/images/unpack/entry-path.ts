import { quoteText } from '@wins/base';
import { imageFailed } from '../image-failure.js';

/** Operating system, in Go's terms. */
export type FileSystemOs = 'windows' | 'linux' | 'darwin';

const MAX_LENGTH = 4096;
/** Characters with a meaning in Win32, such as wildcards, and endings that Win32 drops. */
// oxlint-disable-next-line no-control-regex -- refuses control characters
const NOT_ON_WINDOWS = /[<>:"|?*\\\u0000-\u001f]|[. ]$/;
/** Devices, with any extension: `NUL.txt` is the device too. */
const DEVICE =
  /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])[ ]*(?:\.|$)/i;

/** Returns no parts for the root. @throws AgentError `imageFailed` for an {@link entryFault}. */
export function entryParts(name: string, os: FileSystemOs): string[] {
  const found = entryFault(name, os);
  if (found === undefined) return partsOf(name);
  throw imageFailed(`unpack ${quoteText(name)}`, found, 'a path below the folder of the image');
}

/** Explains why a name leads out of the root or is unsafe on this system; undefined for a valid name. */
export function entryFault(name: string, os: FileSystemOs): string | undefined {
  const parts = partsOf(name);
  if (name.length > MAX_LENGTH) return `${name.length} characters`;
  if (name.includes('\0')) return 'a NUL character';
  if (name.startsWith('/') && parts.length > 0) return 'an absolute path';
  if (parts.includes('..')) return 'a step out of its folder';
  if (os !== 'windows') return undefined;
  if (parts.some((part) => NOT_ON_WINDOWS.test(part)))
    return 'a character that Windows does not allow';
  return parts.some((part) => DEVICE.test(part)) ? 'the name of a device' : undefined;
}

const partsOf = (name: string) => name.split('/').filter((part) => part !== '' && part !== '.');

export class Subtree {
  readonly #parts: readonly string[];

  /** @param path - Such as `Files/bin`, in any letter case; empty for the whole image. */
  constructor(path = '') {
    this.#parts = path.split('/').filter((part) => part !== '');
  }

  /** Returns the path relative to this folder; undefined for a path outside. */
  inside(parts: readonly string[]): readonly string[] | undefined {
    return this.#matches(parts, this.#parts.length) ? parts.slice(this.#parts.length) : undefined;
  }

  isWithin(parts: readonly string[]): boolean {
    return parts.length <= this.#parts.length && this.#matches(parts, parts.length);
  }

  #matches(parts: readonly string[], count: number): boolean {
    const upper = (some: readonly string[]) => some.slice(0, count).join('/').toUpperCase();
    return parts.length >= count && upper(parts) === upper(this.#parts);
  }
}

/** Refuses two entries of a layer whose names differ only in case. */
export class SpellingCheck {
  readonly #spellings = new Map<string, string>();

  /** @throws AgentError `imageFailed`. */
  add(parts: readonly string[]): void {
    let path = '';
    for (const part of parts) {
      path += `/${part}`;
      // NTFS compares the upper case of each character.
      const key = path.toUpperCase();
      const known = this.#spellings.get(key) ?? path;
      if (known !== path)
        throw imageFailed(
          `unpack ${quoteText(path.slice(1))}`,
          `${quoteText(known.slice(1))} in the same layer`,
          'names that differ in more than their case',
        );
      this.#spellings.set(key, path);
    }
  }
}

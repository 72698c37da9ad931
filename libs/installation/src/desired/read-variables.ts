import { onSystemDrive, quoteText } from '@wins/base';
import path from 'node:path';
import { InstallError } from '../install-error.js';
import { Secret } from './secret.js';

const MAX_CHARACTERS = 32_767;
/** A node id that a server accepts: the value of a Kubernetes label. */
export const NODE_ID = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const HEADER_WORD = /^[\x21-\x7e]+$/;
/** Characters that could break out of a command line, a list of folders or a log line. */
const REFUSED_IN_PATH = /[\p{C}\p{Zl}\p{Zp}"<>|?*;%]/u;
const MAX_PATH_CHARACTERS = 200;
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/i;

/** An empty variable counts as unset, as in PowerShell, except for `isEmpty`. Errors show a value only if it cannot be secret. */
export class Variables {
  readonly #values = new Map<string, string>();
  readonly #empty = new Set<string>();

  /** @param environment - Names may have any letter case, as on Windows; an upper-case name wins over other spellings. */
  constructor(environment: Readonly<Record<string, string | undefined>>) {
    for (const [name, value] of Object.entries(environment)) {
      const upper = name.toUpperCase();
      if (value === '') this.#empty.add(upper);
      if (value === undefined || value === '' || (this.#values.has(upper) && name !== upper))
        continue;
      this.#values.set(upper, value);
    }
  }

  set(name: string, value: string, isAdded: boolean): void {
    const before = isAdded ? this.#values.get(name) : undefined;
    this.#values.set(name, before === undefined ? value : `${before},${value}`);
  }

  /** Returns whether the variable is set but empty. An empty variable removes a setting; an unset variable keeps it. */
  isEmpty(name: string): boolean {
    return this.#empty.has(name) && !this.#values.has(name);
  }

  /** Refuses invisible characters. @throws InstallError `usage`. */
  text(name: string, maxCharacters = MAX_CHARACTERS): string | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    if (/[\p{C}\p{Zl}\p{Zp}]/u.test(value))
      throw this.refuse(name, 'an invisible character', 'text of one line');
    if (value.length > maxCharacters)
      throw this.refuse(name, `${value.length} characters`, `at most ${maxCharacters}`);
    return value;
  }

  /** @throws InstallError `usage` */
  secret(name: string): Secret | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : new Secret(value);
  }

  /** Accepts any letter case, also PowerShell's `$true` and `$false`. @throws InstallError `usage`. */
  flag(name: string): boolean | undefined {
    const value = this.text(name);
    const word = value?.toLowerCase().replace(/^\$/, '');
    if (word === undefined || word === 'true' || word === 'false')
      return word === undefined ? undefined : word === 'true';
    throw this.refuse(name, quoteText(value ?? ''), 'true or false');
  }

  /** @throws InstallError `usage` */
  path(name: string, platform: NodeJS.Platform): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const canonical = canonicalPath(value, platform);
    if (canonical !== undefined) return canonical;
    throw this.refuse(name, quoteText(value), 'an absolute path without detours');
  }

  /** Returns the digest in lower case. @throws InstallError `usage`. */
  sha256(name: string): string | undefined {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined || /^[0-9a-f]{64}$/.test(value)) return value;
    throw this.refuse(name, quoteText(value), '64 hexadecimal digits of a SHA-256');
  }

  /** Removes a trailing `/`. Errors omit the value, which may contain a password. @throws InstallError `usage`. */
  url(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol))
      throw this.refuse(name, 'a text that is not an address', 'one that begins with https://');
    if (url.username !== '' || url.password !== '' || url.hash !== '')
      throw this.refuse(name, 'a user, a password or a # in it', 'an address without them');
    return url.href.replace(/\/+$/, '');
  }

  /** Splits the value at commas, and drops repeats. @throws InstallError `usage`. */
  words(name: string): readonly string[] {
    const all = (this.text(name) ?? '').split(',').map((word) => word.trim());
    const words = [...new Set(all.filter((word) => word !== ''))];
    const bad = words.find((word) => !HEADER_WORD.test(word));
    if (bad === undefined) return words;
    throw this.refuse(name, quoteText(bad), 'ASCII words without blanks, separated by commas');
  }

  /** @throws InstallError `usage`. */
  word(name: string, pattern: RegExp, wanted: string): string | undefined {
    const value = this.text(name);
    if (value === undefined || pattern.test(value)) return value;
    throw this.refuse(name, quoteText(value), wanted);
  }

  refuse(name: string, found: string, wanted: string): InstallError {
    return new InstallError('usage', `cannot read ${name}: found ${found}; wanted ${wanted}`);
  }
}

/**
 * Returns the canonical form of an absolute path on a drive of this machine, else undefined. Also refuses `.` and `..`,
 * device names, more than 200 characters, and characters that a list of folders or a log could misread. On Windows a
 * leading slash means the system drive.
 */
export function canonicalPath(text: string, platform: NodeJS.Platform): string | undefined {
  if (text.length > MAX_PATH_CHARACTERS || REFUSED_IN_PATH.test(text)) return undefined;
  if (platform !== 'win32') {
    if (!path.posix.isAbsolute(text) || text.includes(':') || text.includes('\\')) return undefined;
    return steps(text.split('/'), (names) => `/${names.join('/')}`);
  }
  const [, drive, rest] = /^([a-z]):[\\/](.*)$/is.exec(onSystemDrive(text, platform)) ?? [];
  if (drive === undefined || rest === undefined || rest.includes(':')) return undefined;
  return steps(rest.split(/[\\/]/), (names) => {
    // Windows drops a dot or space at the end of a name.
    if (names.some((name) => DEVICE.test(name) || /[. ]$/.test(name))) return undefined;
    return `${drive.toUpperCase()}:\\${names.join('\\')}`;
  });
}

function steps(names: readonly string[], join: (names: readonly string[]) => string | undefined) {
  if (names.some((name) => name === '..' || name === '.')) return undefined;
  return join(names.filter((name) => name !== ''));
}

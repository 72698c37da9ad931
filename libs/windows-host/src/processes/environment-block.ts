import { quoteText } from '@wins/wins-program';
import { WindowsError } from '../windows-error.js';

/**
 * Writes an environment as CreateProcessW takes it: UTF-16, `NAME=value` and NUL each, sorted by name without regard to case,
 * and NUL at the end. Pure. Of names that differ in the case of A to Z only the last counts.
 *
 * @throws WindowsError `invalidArgument` for a name that is empty or holds `=`, and for NUL anywhere.
 */
export function windowsEnvironmentBlock(environment: Readonly<Record<string, string>>): Buffer {
  const entries = new Map<string, string>();
  for (const [name, value] of Object.entries(environment)) {
    if (name === '' || name.includes('=') || `${name}${value}`.includes('\0')) {
      const message = `wrote an environment: the name ${quoteText(name)} or its value is impossible; wanted no NUL, and no "=" in a name`;
      throw new WindowsError('invalidArgument', message);
    }
    entries.set(foldAscii(name), `${name}=${value}\0`);
  }
  // By code units, as the system does: not by the rules of a language.
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  return Buffer.from(`${sorted.join('') || '\0'}\0`, 'utf16le');
}

/** Not `toUpperCase`, for which \u017F is an S and \u0131 an I: such a name would take the place of another. */
function foldAscii(name: string): string {
  return name.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/**
 * The environment of a program that we start. `SystemRoot` is added when it is missing, because little works without it;
 * programs that are named without a folder are never looked for in the working directory, which a client chose.
 */
export function programEnvironment(
  environment: Readonly<Record<string, string>>,
  own: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const entries = new Map<string, readonly [name: string, value: string]>();
  if (own['SystemRoot'] !== undefined) entries.set('SYSTEMROOT', ['SystemRoot', own['SystemRoot']]);
  for (const [name, value] of Object.entries(environment))
    entries.set(foldAscii(name), [name, value]);
  const safeSearch = 'NoDefaultCurrentDirectoryInExePath';
  entries.set(foldAscii(safeSearch), [safeSearch, '1']);
  return Object.fromEntries(entries.values());
}

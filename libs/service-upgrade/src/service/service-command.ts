import { statSync } from 'node:fs';

/** Command line of a service: the program and its arguments, without quotes. */
export interface ServiceCommand {
  readonly imagePath: string;
  readonly args: readonly string[];
}

/**
 * Splits words as `CommandLineToArgvW` does: blanks outside double quotes separate words, a backslash escapes only a double
 * quote, and two double quotes inside quotes give one.
 */
export function splitCommandLine(text: string): string[] {
  const words: string[] = [];
  let word = '';
  let open = false;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\\') {
      const backslashes = /^\\+/.exec(text.slice(at))?.[0].length ?? 1;
      const beforeQuote = text.charAt(at + backslashes) === '"';
      word += '\\'.repeat(beforeQuote ? Math.floor(backslashes / 2) : backslashes);
      at += backslashes - 1;
      if (beforeQuote && backslashes % 2 === 1) {
        word += '"';
        at += 1;
      }
      open = true;
    } else if (character === '"') {
      if (quoted && text.charAt(at + 1) === '"') {
        word += '"';
        at += 1;
      } else quoted = !quoted;
      open = true;
    } else if (/[ \t]/.test(character) && !quoted) {
      if (open) words.push(word);
      word = '';
      open = false;
    } else {
      word += character;
      open = true;
    }
  }
  if (open) words.push(word);
  return words;
}

/**
 * Returns undefined if `text` names no program. A quoted program ends at the second quote. An unquoted program is the shortest
 * prefix that names a file; the service manager has the same rule. If no prefix names a file, the program is the first word.
 *
 * @param isFile - Default: looks at this machine. A folder is no file, such as `C:\Program`.
 */
export function parseServiceCommand(
  text: string,
  isFile: (path: string) => boolean = isFileHere,
): ServiceCommand | undefined {
  const line = text.trim();
  const quoted = /^"([^"]+)"(.*)$/s.exec(line);
  if (quoted !== null)
    return { imagePath: quoted[1] ?? '', args: splitCommandLine(quoted[2] ?? '') };
  if (line === '' || line.startsWith('"')) return undefined;
  const ends = [...line.matchAll(/[ \t]+|$/g)].map(({ index }) => index);
  const end = ends.find((at) => isFile(line.slice(0, at))) ?? ends[0] ?? line.length;
  return { imagePath: line.slice(0, end), args: splitCommandLine(line.slice(end)) };
}

function isFileHere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Compares the program and all arguments, with their letter case. */
export function isSameCommand(a: ServiceCommand, b: ServiceCommand): boolean {
  return JSON.stringify([a.imagePath, ...a.args]) === JSON.stringify([b.imagePath, ...b.args]);
}

/**
 * Joins words to a command line that `CommandLineToArgvW` and the C runtime split into the same words: blanks, quotes and
 * trailing backslashes survive.
 *
 * @param words - The program first. It must hold no quote, which no file name on Windows does: the first word is split by
 *   simpler rules, in which a quote cannot be written.
 * @throws RangeError for no words, a quote in the program, or a NUL anywhere.
 */
export function joinCommandLine(words: readonly string[]): string {
  const [program, ...rest] = words;
  if (program === undefined || program === '' || program.includes('"'))
    throw new RangeError(`joined a command line: ${JSON.stringify(program)} cannot be a program`);
  if (words.some((word) => word.includes('\0')))
    throw new RangeError('joined a command line: a word holds a NUL');
  // The program is always quoted: in an unquoted path with blanks each of its beginnings is tried as a program.
  return [`"${program}"`, ...rest.map(quoteWord)].join(' ');
}

function quoteWord(word: string): string {
  if (!/[\s"]/.test(word) && word !== '') return word;
  // A backslash is itself, except in a row before a quote, where two stand for one.
  const escaped = word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1');
  return `"${escaped}"`;
}

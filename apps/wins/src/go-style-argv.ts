/**
 * Options that take no value. Every other long option takes the next word, whatever it looks like,
 * as Go's flag package has it: `--args -v` passes `-v`.
 */
const SWITCHES = new Set([
  'debug',
  'quiet',
  'help',
  'version',
  'json',
  'register',
  'unregister',
  'delayed-start',
  'lenient',
  'content-only',
  'explain-migration',
]);

/**
 * Rewrites the command line of a Go program for a GNU-style parser: `-path x` and `--path x` both
 * become `--path=x`. Words after `--` and single-letter options stay as they are.
 */
export function normalizeArgv(argv: readonly string[]): string[] {
  const normalized: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') return [...normalized, ...argv.slice(index)];
    const option = /^--?([A-Za-z][A-Za-z0-9-]+)(=[^]*)?$/.exec(word);
    if (option === null) {
      normalized.push(word);
      continue;
    }
    const [, name = '', value] = option;
    const next = argv[index + 1];
    if (value !== undefined) normalized.push(`--${name}${value}`);
    else if (SWITCHES.has(name) || next === undefined) normalized.push(`--${name}`);
    else {
      normalized.push(`--${name}=${next}`);
      index += 1;
    }
  }
  return normalized;
}

import { quoteText, UsageError } from '@wins/base';

/**
 * Splits the value of a list option (`--args`, `--envs`, `--exposes`) at blanks outside quotes. Quotes group words and stay part of the
 * entry: `a "b c"` gives `a` and `"b c"`. Consecutive blanks count as one. To pass words unchanged, use `--` instead.
 * @throws UsageError when a quote is not closed.
 */
export function splitListValue(value: string): string[] {
  const entries: string[] = [];
  let entry = '';
  let quote = '';
  for (const character of value) {
    if (character === ' ' && quote === '') {
      if (entry !== '') entries.push(entry);
      entry = '';
      continue;
    }
    if (quote === '' && (character === '"' || character === "'")) quote = character;
    else if (character === quote) quote = '';
    entry += character;
  }
  if (quote !== '') throw new UsageError(`the quote ${quote} in ${quoteText(value)} is not closed`);
  if (entry !== '') entries.push(entry);
  return entries;
}

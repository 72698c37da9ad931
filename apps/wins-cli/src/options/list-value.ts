import { quoteText, UsageError } from '@wins/base';

/** Splits at blanks outside quotes, which stay part of the entry: `a "b c"` gives `a` and `"b c"`. @throws UsageError for an open quote. */
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

import { quoteText, UsageError } from '@wins/base';
import { RunExposeProtocol, type ProcessExpose } from '@wins/wins-api';
import { parsePort } from '../tunnel/parse-port.js';

/** Splits at blanks outside quotes, and keeps the quotes: `a "b c"` gives `a` and `"b c"`. @throws UsageError for an unclosed quote. */
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

/** Parses `TCP:80` or `UDP:4789-4790`; a range includes both ends. @throws UsageError that names the entry and its fault. */
export function parseExposes(entries: readonly string[]): ProcessExpose[] {
  const exposes = new Map<string, ProcessExpose>();
  for (const entry of entries) {
    const [protocolName = '', range = '', ...rest] = entry.split(':');
    const protocol = { TCP: RunExposeProtocol.TCP, UDP: RunExposeProtocol.UDP }[
      protocolName.toUpperCase()
    ];
    if (protocol === undefined || range === '' || rest.length > 0)
      throw new UsageError(
        `"${entry}" is not a port to expose; wanted TCP:port, UDP:port or a range such as TCP:80-81`,
      );
    const [lowText = '', highText, ...more] = range.split('-');
    const low = parsePort(lowText, entry);
    const high = highText === undefined ? low : parsePort(highText, entry);
    if (more.length > 0 || high < low)
      throw new UsageError(`"${entry}": the range must rise from its first port to its last`);
    for (let port = low; port <= high; port += 1)
      exposes.set(`${protocol}:${port}`, { port, protocol });
  }
  return [...exposes.values()];
}

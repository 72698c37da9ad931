import { VERSION } from '@wins/base';
import { isGroup, type Command, type Group } from './command.js';
import { optionsAt } from './read-words.js';

/** Returns a line such as `wins cli prc run --path FILE [options] [-- ARGUMENT…]`. */
export function usageLine(path: readonly (Group | Command)[]): string {
  const at = path.at(-1);
  const words = ['wins', ...path.slice(1).map(({ name }) => name)];
  if (at === undefined || isGroup(at)) return [...words, 'COMMAND'].join(' ');
  const { positional } = at;
  if (positional !== undefined) {
    const word = positional.name.toUpperCase() + (positional.isList ? '…' : '');
    words.push(positional.isOptional === true ? `[${word}]` : word);
  }
  for (const [name, { wanted, placeholder = 'TEXT' }] of Object.entries(optionsAt(path)))
    if (wanted !== undefined) words.push(`--${name} ${placeholder}`);
  words.push('[options]');
  if (at.rest !== undefined) words.push(`[-- ${at.rest}]`);
  return words.join(' ');
}

export function epilogue(path: readonly (Group | Command)[]): string {
  const at = path.at(-1);
  if (at === undefined) return '';
  const environment = path.flatMap((node) => node.environment ?? []);
  const width = Math.max(...environment.map(([name]) => name.length), 0);
  const parts: string[] = [];
  if (environment.length > 0) {
    const lines = environment.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`);
    parts.push(['Environment:', ...lines].join('\n'));
  }
  if (isGroup(at)) parts.push(`${helpWords(path)} COMMAND prints the help of a command.`);
  // Nodes have no copy of the pages, and the program does not know where its sources are published.
  parts.push(`Documentation: docs/${at.page} in the sources of ${VERSION}`);
  return parts.join('\n\n');
}

export function helpWords(path: readonly (Group | Command)[]): string {
  return ['wins help', ...path.slice(1).map(({ name }) => name)].join(' ');
}

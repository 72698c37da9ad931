import { escapeText, quoteText } from '@wins/base';
import { ruleWords } from '../audit/decision.js';

const MAX_FACTS = 400;

/** Returns a table line for people: padded cells, then the facts. Escapes terminal control characters. */
export function factRow(
  widths: readonly number[],
  cells: readonly string[],
  facts: object,
): string {
  const named = Object.entries(facts).map(([name, value]) => `${name}=${told(name, value)}`);
  return rowOf(widths, cells, named.join(' '));
}

export function factHead(widths: readonly number[], cells: readonly string[]): string {
  return rowOf(widths, cells, 'FACTS');
}

/** Quotes a text that contains white space or quotation marks. Omits the threat-model label of a rule, because only programs need the label. */
function told(name: string, value: unknown): string {
  if (typeof value !== 'string') return factText(value);
  const text = name === 'rule' ? ruleWords(value) : value;
  return /[\s"]/.test(text) ? quoteText(text) : text;
}

export function factText(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function rowOf(widths: readonly number[], cells: readonly string[], rest: string): string {
  const columns = cells.map((cell, index) => escapeText(cell).padEnd(widths[index] ?? 0));
  return `${columns.join('  ')}  ${escapeText(rest, { maxLength: MAX_FACTS })}`.trimEnd();
}

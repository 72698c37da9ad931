import type { RingEvent } from '../../kernel/events/ring-event.js';
import { ruleWords } from '../../kernel/audit/decision.js';
import { escapeText, quoteText } from '@wins/wins-program';

const WIDTHS = [24, 7, 16] as const;
const MAX_FACTS = 400;

export const EVENT_HEAD = row(['TIME', 'SEQ', 'EVENT'], 'FACTS');

/** An event as a line of a table, for people; what would steer a terminal is escaped. */
export function eventRow({ seq, time, type, ...facts }: RingEvent): string {
  const rest = Object.entries(facts)
    .map(([name, value]) => `${name}=${textOf(name, value)}`)
    .join(' ');
  return row([time, String(seq), type], rest);
}

/** A value with blanks is quoted; the label of the threat model before a rule stays a field for programs. */
function textOf(name: string, value: string | number | boolean | undefined): string {
  const text = name === 'rule' ? ruleWords(String(value)) : String(value);
  return /[\s"]/.test(text) ? quoteText(text) : text;
}

function row(cells: readonly string[], rest: string): string {
  const columns = cells.map((cell, index) => escapeText(cell).padEnd(WIDTHS[index] ?? 0));
  return `${columns.join('  ')}  ${escapeText(rest, { maxLength: MAX_FACTS })}`.trimEnd();
}

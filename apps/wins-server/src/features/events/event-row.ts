import type { RingEvent } from '../../kernel/events/ring-event.js';
import { escapeText } from '@wins/wins-program';

const WIDTHS = [24, 7, 16] as const;
const MAX_FACTS = 400;

export const EVENT_HEAD = row(['TIME', 'SEQ', 'EVENT'], 'FACTS');

/** An event as a line of a table, for people; what would steer a terminal is escaped. */
export function eventRow({ seq, time, type, ...facts }: RingEvent): string {
  const rest = Object.entries(facts)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
  return row([time, String(seq), type], rest);
}

function row(cells: readonly string[], rest: string): string {
  const columns = cells.map((cell, index) => escapeText(cell).padEnd(WIDTHS[index] ?? 0));
  return `${columns.join('  ')}  ${escapeText(rest, { maxLength: MAX_FACTS })}`.trimEnd();
}

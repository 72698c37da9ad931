import type { AuditRecord } from './audit-record.js';
import { escapeText } from '@wins/wins-program';

const WIDTHS = [24, 8, 14, 8, 12] as const;
const MAX_FACTS = 400;

/** The head of the table of records. */
export const RECORD_HEAD = row(['TIME', 'SEQ', 'KIND', 'VERDICT', 'REQUESTER'], 'FACTS');

/** A record as a line of a table, for people; what would steer a terminal is escaped. */
export function recordRow({ seq, time, kind, prev: _prev, ...facts }: AuditRecord): string {
  const { verdict, requester, ...others } = facts;
  const rest = Object.entries(others)
    .map(([name, value]) => `${name}=${textOf(value)}`)
    .join(' ');
  return row([time, String(seq), kind, textOf(verdict), textOf(requester)], rest);
}

function row(cells: readonly string[], rest: string): string {
  const columns = cells.map((cell, index) => escapeText(cell).padEnd(WIDTHS[index] ?? 0));
  return `${columns.join('  ')}  ${escapeText(rest, { maxLength: MAX_FACTS })}`.trimEnd();
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

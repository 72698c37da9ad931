import { escapeJson } from '@wins/wins-program';

const MAX_FACTS = 16;
const MAX_TEXT = 256;
const OWN = new Set(['seq', 'time', 'type']);

/** What is said of an event: flat, and without what may be long or secret. */
export type EventFacts = Readonly<Record<string, string | number | boolean | undefined>>;

/** An event as it is kept. */
export interface RingEvent extends EventFacts {
  /** Counts from 1, across restarts. */
  readonly seq: number;
  /** As RFC 3339, in UTC with milliseconds. */
  readonly time: string;
  readonly type: string;
}

/** An event before it is written. */
export interface UnnumberedEvent extends EventFacts {
  readonly time: string;
  readonly type: string;
}

/** The facts that are kept: 16 at most, texts of 256 characters at most, none named as what the ring adds. */
export function boundedFacts(facts: EventFacts): EventFacts {
  const kept = Object.entries(facts)
    .filter(([name, value]) => value !== undefined && !OWN.has(name))
    .slice(0, MAX_FACTS)
    .map(([name, value]) => [cut(name), typeof value === 'string' ? cut(value) : value]);
  return Object.fromEntries(kept) as EventFacts;
}

/** One line of JSON, with its end. */
export function encodeEvent(event: RingEvent): string {
  return `${escapeJson(JSON.stringify(event))}\n`;
}

/** The event of a line; undefined when it is none. */
export function decodeEvent(line: string): RingEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { seq, time, type } = value as Partial<RingEvent>;
  if (!Number.isSafeInteger(seq) || typeof time !== 'string' || typeof type !== 'string')
    return undefined;
  return value as RingEvent;
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT);
}

import type { EventLog, LogEvent } from '@wins/windows-host';
import { AUDIT } from '../audit/audit-trail.js';

/** Limit per minute of our own events in the event log, and of refusals; allowed actions of clients have the next limit. */
const EVENTS_PER_MINUTE = 60;
/** More of these: what a client did matters more than what it could not do. */
const ACTS_PER_MINUTE = 600;
const MINUTE_MS = 60_000;

/** Ids as those of earlier releases; ten more for an event with fields. */
const EVENTS: Readonly<Record<string, Pick<LogEvent, 'type' | 'id'>>> = {
  debug: { type: 'information', id: 2 },
  info: { type: 'information', id: 1 },
  warn: { type: 'warning', id: 1 },
  error: { type: 'error', id: 1 },
  fatal: { type: 'error', id: 4 },
};
const WITH_FIELDS = 10;

/** A line of the log; all unnamed keys are its fields. */
interface LogLine {
  readonly level?: string;
  readonly time?: string;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

/** Lines of information about the daemon itself, rather than about its clients. */
const LIFECYCLE = new Set(['starting', 'ready', 'stopping', 'stopped', 'config changed']);

/** Actions that change the host when they are allowed. */
const ACTS = new Set<unknown>(['start', 'upgrade', 'addRoutes', 'removeRoutes']);

/** Events of one cause share what a minute may bring. */
type Cause = 'own' | 'refusal' | 'act';

/**
 * The event for a line of the log; undefined for a line that stays in the files alone. Events are warnings, errors, the daemon's own
 * lifecycle, refusals, and allowed starts, upgrades and changes of routes.
 */
export function eventOf(line: LogLine): (LogEvent & { readonly cause: Cause }) | undefined {
  const { level = 'info', time: _time, msg = '', ...fields } = line;
  const isDecision = fields['log'] === AUDIT;
  const isAct = isDecision && fields['verdict'] === 'allowed' && ACTS.has(fields['action']);
  const isMinor = level === 'debug' || level === 'trace';
  const isWanted = isAct || LIFECYCLE.has(msg);
  if (isMinor || (level === 'info' && !isWanted)) return undefined;
  const names = Object.keys(fields);
  const { type, id } = EVENTS[level] ?? { type: 'error', id: 1 };
  return {
    type,
    id: names.length > 0 ? id + WITH_FIELDS : id,
    lines: [msg, ...names.map((name) => `${name}: ${textOf(fields[name])}`)],
    cause: isAct ? 'act' : isDecision ? 'refusal' : 'own',
  };
}

/**
 * A destination of the log that writes events. Clients cannot push other events out of the log, which has a size: beyond
 * 60 in a minute (600 of allowed acts) events are counted, and the number comes with the first event of the next minute.
 */
export function createEventDestination(log: EventLog): { write(line: string): void } {
  const causes: Readonly<Record<Cause, Minutes>> = {
    own: new Minutes(EVENTS_PER_MINUTE),
    refusal: new Minutes(EVENTS_PER_MINUTE),
    act: new Minutes(ACTS_PER_MINUTE),
  };
  return {
    write: (text) => {
      const event = eventOf(JSON.parse(text) as LogLine);
      if (event === undefined) return;
      const { isFull, left } = causes[event.cause].take();
      if (left > 0)
        log.report({
          type: 'warning',
          id: 1 + WITH_FIELDS,
          lines: ['events are in the log file only', `count: ${left}`],
        });
      if (!isFull) log.report(event);
    },
  };
}

/** Counts events by the minute. */
class Minutes {
  #startMs = -Infinity;
  #count = 0;

  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** `left`: how many the minute before did without. */
  take(): { readonly isFull: boolean; readonly left: number } {
    let left = 0;
    const nowMs = performance.now();
    if (nowMs - this.#startMs >= MINUTE_MS) {
      left = Math.max(0, this.#count - this.#most);
      this.#startMs = nowMs;
      this.#count = 0;
    }
    this.#count += 1;
    return { isFull: this.#count > this.#most, left };
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

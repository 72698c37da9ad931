import type { EventLog, LogEvent } from '@wins/windows-host';

/** What one minute may bring into the event log, each of events of our own and those that clients cause. */
const EVENTS_PER_MINUTE = 60;
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

/** What a line of the log says of itself; all else are its fields. */
interface LogLine {
  readonly level?: string;
  readonly time?: string;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

/** Lines of information that tell of the daemon itself, rather than of what it does for clients. */
const LIFECYCLE = new Set(['starting', 'ready', 'stopping', 'stopped', 'config changed']);

/**
 * The event that a line of the log is worth: warnings, errors, the daemon's own lifecycle, and refusals. The rest of what
 * it does for clients is in the log file alone.
 */
export function eventOf(line: LogLine): (LogEvent & { readonly isByClient: boolean }) | undefined {
  const { level = 'info', time: _time, msg = '', ...fields } = line;
  const isByClient = fields['audit'] === true;
  const isRefusal = isByClient && fields['verdict'] === 'refused';
  const isMinor = level === 'debug' || level === 'trace';
  if (isMinor || (level === 'info' && !isRefusal && !LIFECYCLE.has(msg))) return undefined;
  const names = Object.keys(fields);
  const { type, id } = EVENTS[level] ?? { type: 'error', id: 1 };
  return {
    type: isRefusal ? 'warning' : type,
    id: names.length > 0 ? id + WITH_FIELDS : id,
    lines: [msg, ...names.map((name) => `${name}: ${textOf(fields[name])}`)],
    isByClient,
  };
}

/**
 * A destination of the log that writes events. Clients cannot push other events out of the log, which has a size: beyond
 * 60 in a minute events are counted, and the number is told with the next minute's first.
 */
export function createEventDestination(log: EventLog): { write(line: string): void } {
  const own = new Minutes();
  const byClients = new Minutes();
  return {
    write: (text) => {
      const event = eventOf(JSON.parse(text) as LogLine);
      if (event === undefined) return;
      const minutes = event.isByClient ? byClients : own;
      const { isFull, left } = minutes.take();
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

  /** `left`: how many the minute before did without. */
  take(): { readonly isFull: boolean; readonly left: number } {
    let left = 0;
    const nowMs = performance.now();
    if (nowMs - this.#startMs >= MINUTE_MS) {
      left = Math.max(0, this.#count - EVENTS_PER_MINUTE);
      this.#startMs = nowMs;
      this.#count = 0;
    }
    this.#count += 1;
    return { isFull: this.#count > EVENTS_PER_MINUTE, left };
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

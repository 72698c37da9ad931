import type { EventLog, LogEvent } from '@wins/windows-host';
import { FloodLimiter } from '../admission/flood-limiter.js';
import { AUDIT } from '../audit/audit-trail.js';

/** Limit for the daemon's own events, and separately for refusals. */
const EVENTS_PER_MINUTE = 60;
/** Limit for allowed actions: higher, because they matter more than refusals. */
const ACTIONS_PER_MINUTE = 600;
const MINUTE_MS = 60_000;

/** Ids of events without fields, as in earlier releases. If an event has fields, `WITH_FIELDS` is added. */
const EVENTS: Readonly<Record<string, Pick<LogEvent, 'type' | 'id'>>> = {
  debug: { type: 'information', id: 2 },
  info: { type: 'information', id: 1 },
  warn: { type: 'warning', id: 1 },
  error: { type: 'error', id: 1 },
  fatal: { type: 'error', id: 4 },
};
const WITH_FIELDS = 10;

interface LogLine {
  readonly level?: string;
  readonly time?: string;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

/** Messages about the daemon itself rather than about its clients. */
const LIFECYCLE = new Set(['starting', 'ready', 'stopping', 'stopped', 'config changed']);

/** Allowed actions that change the host. */
const ACTIONS = new Set<unknown>(['start', 'upgrade', 'addRoutes', 'removeRoutes']);

type Cause = 'own' | 'refusal' | 'action';

/**
 * Returns the event for a log line that is a warning or an error, has a `LIFECYCLE` message, or reports one of the `ACTIONS` as
 * allowed. Refusals are logged as warnings. Returns undefined for any other line.
 */
export function eventOf(line: LogLine): (LogEvent & { readonly cause: Cause }) | undefined {
  const { level = 'info', time: _time, msg = '', ...fields } = line;
  const isDecision = fields['log'] === AUDIT;
  const isAction = isDecision && fields['verdict'] === 'allowed' && ACTIONS.has(fields['action']);
  const isMinor = level === 'debug' || level === 'trace';
  const isWanted = isAction || LIFECYCLE.has(msg);
  if (isMinor || (level === 'info' && !isWanted)) return undefined;
  const names = Object.keys(fields);
  const { type, id } = EVENTS[level] ?? { type: 'error', id: 1 };
  return {
    type,
    id: names.length > 0 ? id + WITH_FIELDS : id,
    lines: [msg, ...names.map((name) => `${name}: ${textOf(fields[name])}`)],
    cause: isAction ? 'action' : isDecision ? 'refusal' : 'own',
  };
}

/**
 * Limits the events of each cause per minute, so that clients cannot fill the event log. The first event of a later minute also
 * reports how many were omitted.
 */
export function createEventDestination(log: EventLog): { write(line: string): void } {
  const limiterOf = (most: number) => new FloodLimiter({ most, periodMs: MINUTE_MS, mostKeys: 1 });
  const causes: Readonly<Record<Cause, FloodLimiter>> = {
    own: limiterOf(EVENTS_PER_MINUTE),
    refusal: limiterOf(EVENTS_PER_MINUTE),
    action: limiterOf(ACTIONS_PER_MINUTE),
  };
  return {
    write: (text) => {
      const event = eventOf(JSON.parse(text) as LogLine);
      if (event === undefined) return;
      const { cause } = event;
      const limiter = causes[cause];
      const left = limiter.turn(performance.now()).get(cause);
      if (left !== undefined)
        log.report({
          type: 'warning',
          id: 1 + WITH_FIELDS,
          lines: ['events are in the log file only', `count: ${left}`],
        });
      if (limiter.admit(cause, cause)) log.report(event);
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

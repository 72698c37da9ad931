import type { RingEvent } from '../../kernel/events/ring-files.js';
import { ruleWords } from '../../kernel/audit/decision.js';

/** One attempt of a run, or one process of the daemon. */
export interface Life {
  /** Undefined if it began before the first kept event. */
  readonly fromMs: number | undefined;
  /** Undefined while it lasts, and if its end is unknown. */
  readonly toMs: number | undefined;
  /** Words about the end; undefined while it lasts. */
  readonly end: string | undefined;
  readonly isFailure: boolean;
}

/** The attempts of one program under one name, as events tell them. */
export interface RunHistory {
  readonly name: string;
  /** Name of its process, such as `rancher-wins-nginx`. */
  readonly process: string;
  readonly path: string;
  readonly lives: readonly Life[];
  readonly restartsMs: readonly number[];
  readonly gaveUp: string | undefined;
}

/** Equal refusals. */
export interface Refusal {
  readonly action: string;
  readonly rule: string;
  readonly subject: string;
  readonly count: number;
  readonly lastMs: number;
  readonly lastClient: string;
}

/** Equal failures of a port of the tunnel. */
export interface PortTrouble {
  readonly port: string;
  readonly trouble: string;
  readonly count: number;
  readonly lastMs: number;
}

/** How often something happened at a time. */
export interface Moment {
  readonly atMs: number;
  readonly count: number;
}

const END_UNKNOWN = 'end unknown';
const FAILURES: ReadonlySet<string> = new Set(['outOfMemory', 'hostFailed']);
const TROUBLES: Readonly<Record<string, string>> = {
  connectFailed: 'connect failed',
  connectSlow: 'no answer for 15 s',
  streamCut: 'stream cut',
};

/** Events of a daemon with a valid time. */
export function eventsWithTime(events: readonly RingEvent[]): readonly RingEvent[] {
  return events.filter((event) => !Number.isNaN(timeOf(event)));
}

export function timeOf({ time }: RingEvent): number {
  return Date.parse(time);
}

/** The processes of the daemon. @param isAnswering - Whether the last one lives. */
export function daemonLives(events: readonly RingEvent[], isAnswering: boolean): readonly Life[] {
  const lives: Life[] = [];
  let current: { fromMs: number | undefined; stoppedMs?: number } | undefined;
  /** Times of the events since the last start. */
  let timesMs: number[] = [];
  const end = (beforeMs = Infinity) => {
    const lastMs = timesMs.findLast((each) => each < beforeMs);
    if (current === undefined || (current.fromMs === undefined && lastMs === undefined)) return;
    const { fromMs, stoppedMs } = current;
    const toMs = stoppedMs ?? lastMs;
    const isFailure = stoppedMs === undefined;
    lives.push({ fromMs, toMs, end: isFailure ? 'ended unexpectedly' : 'stopped', isFailure });
  };
  for (const event of events) {
    const { type, ageMs = 0 } = event;
    const atMs = timeOf(event);
    if (type === 'started') {
      const fromMs = atMs - Math.max(0, Number(ageMs) || 0);
      // A starting daemon has events, too.
      end(fromMs);
      current = { fromMs };
      timesMs = [];
    } else {
      current ??= { fromMs: undefined };
      if (type === 'stopping') current.stoppedMs = atMs;
    }
    timesMs.push(atMs);
  }
  if (!isAnswering) end();
  else if (current !== undefined)
    lives.push({ fromMs: current.fromMs, toMs: undefined, end: undefined, isFailure: false });
  return lives;
}

interface Row extends Pick<RunHistory, 'name' | 'process' | 'path'> {
  readonly lives: Life[];
  readonly restartsMs: number[];
  /** Index of the life that each mark began and nothing has ended. */
  readonly open: Map<string, number>;
  gaveUp: string | undefined;
}

/** The runs that the events mention, in the order of their first events. */
export function runHistories(events: readonly RingEvent[]): readonly RunHistory[] {
  const rows = new Map<string, Row>();
  const rowOf = (event: RingEvent): Row => {
    const process = textOf(event['name']);
    const name = textOf(event['label']) || process;
    const key = runKey(name, process);
    const path = textOf(event['path']);
    const known = rows.get(key);
    if (known !== undefined) return known;
    const row = {
      name,
      process,
      path,
      lives: [],
      restartsMs: [],
      open: new Map(),
      gaveUp: undefined,
    };
    rows.set(key, row);
    return row;
  };
  const marks = new Map<string, Row>();
  for (const event of events) {
    const mark = textOf(event['mark']);
    const atMs = timeOf(event);
    switch (event.type) {
      case 'runStarted': {
        const row = rowOf(event);
        row.gaveUp = undefined;
        row.open.set(mark, row.lives.length);
        row.lives.push({ fromMs: atMs, toMs: undefined, end: undefined, isFailure: false });
        marks.set(mark, row);
        break;
      }
      case 'runEnded':
        endLife(rowOf(event), mark, { atMs, end: endOf(event), isFailure: isFailure(event) });
        break;
      case 'leftoverEnded': {
        const row = marks.get(mark);
        if (row?.open.has(mark) === true)
          endLife(row, mark, { atMs, end: 'ended after its daemon', isFailure: false });
        break;
      }
      case 'runRestarts':
        rowOf(event).restartsMs.push(atMs);
        break;
      case 'runGaveUp':
        rowOf(event).gaveUp = textOf(event['reason']);
        break;
    }
  }
  return [...rows.values()];
}

export function runKey(name: string, process: string): string {
  return `${name}\n${process}`;
}

function endLife(
  { lives, open }: Row,
  mark: string,
  { atMs, end, isFailure }: { atMs: number; end: string; isFailure: boolean },
): void {
  const index = open.get(mark);
  const fromMs = index === undefined ? undefined : lives[index]?.fromMs;
  open.delete(mark);
  lives[index ?? lives.length] = { fromMs, toMs: atMs, end, isFailure };
}

/** Ends the lives that go on, except the last `alive` ones: their ends are not in the events. */
export function withUnknownEnds(lives: readonly Life[], alive: number): readonly Life[] {
  const open = lives.flatMap((life, index) => (life.end === undefined ? [index] : []));
  const ended = new Set(open.slice(0, open.length - Math.min(alive, open.length)));
  return lives.map((life, index) => (ended.has(index) ? { ...life, end: END_UNKNOWN } : life));
}

function endOf(event: RingEvent): string {
  const reason = textOf(event['reason']);
  const signal = textOf(event['signal']);
  return `${reason} (${signal === '' ? `code ${textOf(event['code'])}` : signal})`;
}

export function isFailure({ reason, code }: RingEvent): boolean {
  return FAILURES.has(textOf(reason)) || (reason === 'exited' && code !== 0);
}

/** Refusals by what was refused and why: the most frequent first, of these the latest. */
export function refusalsIn(events: readonly RingEvent[]): readonly Refusal[] {
  return grouped(events.filter(isRefusal), (event) => {
    if (event.type === 'connectionRefused')
      return { action: 'connection', rule: textOf(event['rule']), subject: textOf(event['pipe']) };
    const { path, port, name, rule, code } = event;
    return {
      action: textOf(event['action']),
      rule: ruleWords(textOf(rule ?? code)),
      subject: textOf(path ?? port ?? name),
    };
  }).map(({ about, count, last }) => ({
    ...about,
    count,
    lastMs: timeOf(last),
    lastClient: textOf(last['client']),
  }));
}

function isRefusal({ type, verdict }: RingEvent): boolean {
  return type === 'connectionRefused' || (type === 'decided' && verdict === 'refused');
}

/** Refusals over time, with those that a flood made the daemon only count. */
export function refusalMoments(events: readonly RingEvent[]): readonly Moment[] {
  return events.flatMap((event) => {
    const isCounted =
      event.type === 'counted' && /^(?:refused|connections)$/.test(textOf(event['share']));
    if (!isCounted && !isRefusal(event)) return [];
    return [{ atMs: timeOf(event), count: isCounted ? countOf(event['count']) : 1 }];
  });
}

export function momentsOf(
  events: readonly RingEvent[],
  isWanted: (event: RingEvent) => boolean,
): readonly Moment[] {
  return events.filter(isWanted).map((event) => ({ atMs: timeOf(event), count: 1 }));
}

export function isTrouble({ type }: RingEvent): boolean {
  return Object.hasOwn(TROUBLES, type);
}

/** Failures of ports of the tunnel: the most frequent first, of these the latest. */
export function portTroubles(events: readonly RingEvent[]): readonly PortTrouble[] {
  return grouped(events.filter(isTrouble), (event) => {
    const code = textOf(event['code']);
    const trouble = TROUBLES[event.type] ?? '';
    return { port: textOf(event['port']), trouble: code === '' ? trouble : `${trouble}: ${code}` };
  }).map(({ about, count, last }) => ({ ...about, count, lastMs: timeOf(last) }));
}

/** How often tunnels opened, and why they ended. */
export function tunnelCounts(events: readonly RingEvent[]): {
  readonly opened: number;
  readonly ended: readonly { readonly reason: string; readonly count: number }[];
} {
  const ended = grouped(
    events.filter(({ type }) => type === 'tunnelEnded'),
    (event) => ({ reason: textOf(event['reason']) }),
  );
  return {
    opened: events.filter(({ type }) => type === 'tunnelOpened').length,
    ended: ended.map(({ about, count }) => ({ ...about, count })),
  };
}

interface Grouped<About> {
  readonly about: About;
  readonly count: number;
  readonly last: RingEvent;
}

function grouped<About extends Readonly<Record<string, string>>>(
  events: readonly RingEvent[],
  aboutOf: (event: RingEvent) => About,
): readonly Grouped<About>[] {
  const groups = new Map<string, Grouped<About>>();
  for (const event of events) {
    const about = aboutOf(event);
    const key = Object.values(about).join('\n');
    groups.set(key, { about, count: (groups.get(key)?.count ?? 0) + 1, last: event });
  }
  return [...groups.values()].sort(
    (one, other) => other.count - one.count || timeOf(other.last) - timeOf(one.last),
  );
}

/** An event from the disk may have facts of any type. */
function textOf(fact: unknown): string {
  return typeof fact === 'string' || typeof fact === 'number' ? String(fact) : '';
}

function countOf(fact: unknown): number {
  return typeof fact === 'number' && Number.isSafeInteger(fact) && fact > 0 ? fact : 0;
}

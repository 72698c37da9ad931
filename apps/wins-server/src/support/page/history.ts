import type { Life } from '../../kernel/events/daemon-lives.js';
import { timeOf, type RingEvent } from '../../kernel/events/ring-files.js';
import { ruleWords } from '../../kernel/audit/decision.js';

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

/** Equal events: how many, and the latest. */
export type Repeated<About> = About & {
  readonly count: number;
  readonly lastMs: number;
  readonly lastClient: string;
};
export type Refusal = Repeated<Readonly<Record<'action' | 'rule' | 'subject', string>>>;
export type PortTrouble = Repeated<Readonly<Record<'port' | 'trouble', string>>>;
export type TunnelEnd = Repeated<Readonly<Record<'reason', string>>>;

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

interface Row extends RunHistory {
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

export function isFailure({ reason, code }: Partial<RingEvent>): boolean {
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
  });
}

function isRefusal({ type, verdict }: RingEvent): boolean {
  return type === 'connectionRefused' || (type === 'decided' && verdict === 'refused');
}

/** Number of refusals that an event tells: in a flood, the daemon only counts them. */
export function refusalCount(event: RingEvent): number {
  const { type, share, count } = event;
  if (type !== 'counted' || !/^(?:refused|connections)$/.test(textOf(share)))
    return Number(isRefusal(event));
  return typeof count === 'number' && Number.isSafeInteger(count) && count > 0 ? count : 0;
}

export function momentsOf(
  events: readonly RingEvent[],
  countOf: (event: RingEvent) => number | boolean,
): readonly Moment[] {
  return events
    .map((event) => ({ atMs: timeOf(event), count: Number(countOf(event)) }))
    .filter(({ count }) => count > 0);
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
  });
}

/** Why tunnels ended. */
export function tunnelEnds(events: readonly RingEvent[]): readonly TunnelEnd[] {
  const ended = events.filter(({ type }) => type === 'tunnelEnded');
  return grouped(ended, ({ reason }) => ({ reason: textOf(reason) }));
}

function grouped<About extends Readonly<Record<string, string>>>(
  events: readonly RingEvent[],
  aboutOf: (event: RingEvent) => About,
): readonly Repeated<About>[] {
  const groups = new Map<string, Repeated<About>>();
  for (const event of events) {
    const about = aboutOf(event);
    const key = Object.values(about).join('\n');
    const count = (groups.get(key)?.count ?? 0) + 1;
    const last = { lastMs: timeOf(event), lastClient: textOf(event['client']) };
    groups.set(key, { ...about, count, ...last });
  }
  return [...groups.values()].sort(
    (one, other) => other.count - one.count || other.lastMs - one.lastMs,
  );
}

/** An event from the disk may have facts of any type. */
function textOf(fact: unknown): string {
  return typeof fact === 'string' || typeof fact === 'number' ? String(fact) : '';
}

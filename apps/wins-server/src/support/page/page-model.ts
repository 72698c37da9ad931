import { counted, reportOf, type Condition } from '../../kernel/conditions/condition.js';
import {
  daemonLives,
  eventsWithTime,
  isFailure,
  isTrouble,
  momentsOf,
  portTroubles,
  refusalMoments,
  refusalsIn,
  runHistories,
  timeOf,
  tunnelCounts,
  type Life,
  type Moment,
  type PortTrouble,
  type Refusal,
} from './history.js';
import type { PageFacts, Share } from './page-facts.js';
import { runRows, type RunRow } from './run-rows.js';
import { DAY_MS } from './time-axis.js';

/** Together these limits keep the page below 1 MiB, whatever names and texts it shows. */
export const SHOWN = {
  unwell: 30,
  summaries: 15,
  well: 40,
  runs: 25,
  livesOfRun: 8,
  refusals: 20,
  ports: 20,
  tunnelEnds: 10,
  memory: 10,
} as const;

/** The first of a list, and how many of it the page leaves out. */
export interface Shown<One> {
  readonly shown: readonly One[];
  readonly left: number;
}

/** The content of the page. */
export interface PageModel extends Pick<
  PageFacts,
  'madeAtMs' | 'host' | 'isAnswering' | 'eventsFault' | 'disks' | 'tunnelBytes'
> {
  readonly level: Condition['level'];
  readonly verdict: string;
  readonly unwell: Shown<Condition>;
  readonly summaries: Shown<Condition>;
  readonly well: Shown<Condition>;
  /** The kept events; undefined if there are none. */
  readonly kept:
    | { readonly count: number; readonly fromMs: number; readonly toMs: number }
    | undefined;
  readonly daemon: readonly Life[];
  readonly runs: Shown<RunRow>;
  /** Begin of the time line of runs, in milliseconds since 1970. */
  readonly runsFromMs: number;
  readonly moments: Readonly<
    Record<'refusals' | 'restarts' | 'failures' | 'troubles', readonly Moment[]>
  >;
  readonly refusals: Shown<Refusal>;
  readonly ports: Shown<PortTrouble>;
  readonly tunnels: {
    readonly opened: number;
    readonly ended: Shown<{ readonly reason: string; readonly count: number }>;
  };
  readonly memory: Shown<Share>;
}

/** Chooses what the page shows, and counts the rest. */
export function pageModel(facts: PageFacts): PageModel {
  const { madeAtMs, host, isAnswering, reported, eventsFault, disks, tunnelBytes } = facts;
  const findings = reportOf(reported);
  const summaries = reportOf(
    reported,
    ({ level, isSummary }) => level === 'ok' && isSummary === true,
  );
  const told = new Set(summaries.map(textOfCondition));
  const ofLevel = (level: Condition['level']) => findings.filter((one) => one.level === level);
  const [problems, warnings] = [ofLevel('problem'), ofLevel('warning')];
  const well = ofLevel('ok').filter((one) => !told.has(textOfCondition(one)));
  const events = eventsWithTime(facts.events);
  const [first, last] = [events[0], events.at(-1)];
  const fromMs = events.reduce((least, event) => Math.min(least, timeOf(event)), madeAtMs);
  const toMs = events.reduce((most, event) => Math.max(most, timeOf(event)), fromMs);
  const rows = runRows(runHistories(events), facts.runs);
  const measured = rows.flatMap(({ name, memoryBytes, memoryLimitBytes }): Share[] => {
    if (memoryBytes === undefined) return [];
    const [total] = facts.memory;
    const totalBytes = memoryLimitBytes ?? total?.totalBytes ?? memoryBytes;
    const of = memoryLimitBytes === undefined ? 'this host' : 'its limit';
    return [{ what: `${name}, of ${of}`, usedBytes: memoryBytes, totalBytes }];
  });
  const byUse = measured.sort((one, other) => shareOf(other) - shareOf(one));
  const { opened, ended } = tunnelCounts(events);
  return {
    madeAtMs,
    host,
    isAnswering,
    eventsFault,
    disks,
    tunnelBytes,
    level: problems.length > 0 ? 'problem' : warnings.length > 0 ? 'warning' : 'ok',
    verdict: verdictOf(problems.length, warnings.length),
    unwell: firstOf([...problems, ...warnings], SHOWN.unwell),
    summaries: firstOf(summaries, SHOWN.summaries),
    well: firstOf(well, SHOWN.well),
    kept:
      first === undefined || last === undefined
        ? undefined
        : { count: events.length, fromMs, toMs },
    daemon: daemonLives(events, isAnswering),
    runs: firstOf(rows, SHOWN.runs),
    runsFromMs: Math.max(madeAtMs - DAY_MS, fromMs),
    moments: {
      refusals: refusalMoments(events),
      restarts: momentsOf(events, ({ type }) => type === 'runRestarts' || type === 'started'),
      failures: momentsOf(
        events,
        (event) => event.type === 'startFailed' || (event.type === 'runEnded' && isFailure(event)),
      ),
      troubles: momentsOf(events, isTrouble),
    },
    refusals: firstOf(refusalsIn(events), SHOWN.refusals),
    ports: firstOf(portTroubles(events), SHOWN.ports),
    tunnels: { opened, ended: firstOf(ended, SHOWN.tunnelEnds) },
    memory: firstOf([...facts.memory, ...byUse], SHOWN.memory),
  };
}

/** Copies a value with all its texts cleaned. */
export function cleaned<Value>(value: Value, clean: (text: string) => string): Value {
  if (typeof value === 'string') return clean(value) as Value;
  if (Array.isArray(value)) return value.map((one: unknown) => cleaned(one, clean)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [
    name,
    cleaned(one as unknown, clean),
  ]);
  return Object.fromEntries(entries) as Value;
}

export function shareOf({ usedBytes, totalBytes }: Share): number {
  return totalBytes > 0 ? usedBytes / totalBytes : 0;
}

function verdictOf(problems: number, warnings: number): string {
  if (problems + warnings === 0) return 'all is well';
  return `${counted(problems, 'problem')}, ${counted(warnings, 'warning')}`;
}

function textOfCondition({ check, found }: Condition): string {
  return `${check}\n${found}`;
}

function firstOf<One>(all: readonly One[], most: number): Shown<One> {
  return { shown: all.slice(0, most), left: Math.max(0, all.length - most) };
}

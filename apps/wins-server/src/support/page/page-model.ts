import { verdictOf, worstLevel } from '../../kernel/conditions/report.js';
import { withoutCaused, type Condition, type Level } from '../../kernel/conditions/condition.js';
import { daemonLives, type Life } from '../../kernel/events/daemon-lives.js';
import { timeOf } from '../../kernel/events/ring-files.js';
import {
  isFailure,
  isTrouble,
  momentsOf,
  portTroubles,
  refusalCount,
  refusalsIn,
  runHistories,
  tunnelEnds,
  type Moment,
  type PortTrouble,
  type Refusal,
  type TunnelEnd,
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
  readonly level: Level;
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
  readonly tunnelsOpened: number;
  readonly tunnelsEnded: Shown<TunnelEnd>;
  readonly memory: Shown<Share>;
}

/** Chooses what the page shows, and counts the rest. */
export function pageModel(facts: PageFacts): PageModel {
  const { madeAtMs, host, isAnswering, eventsFault, disks, tunnelBytes } = facts;
  const findings = withoutCaused(facts.reported);
  const ofLevel = (wanted: Level) => findings.filter(({ level }) => level === wanted);
  const well = ofLevel('ok');
  const events = facts.events.filter((event) => !Number.isNaN(timeOf(event)));
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
  return {
    madeAtMs,
    host,
    isAnswering,
    eventsFault,
    disks,
    tunnelBytes,
    level: worstLevel(findings),
    verdict: verdictOf(findings),
    unwell: firstOf([...ofLevel('problem'), ...ofLevel('warning')], SHOWN.unwell),
    summaries: firstOf(
      well.filter(({ isSummary = false }) => isSummary),
      SHOWN.summaries,
    ),
    well: firstOf(
      well.filter(({ isSummary = false }) => !isSummary),
      SHOWN.well,
    ),
    kept: events.length === 0 ? undefined : { count: events.length, fromMs, toMs },
    daemon: daemonLives(events, isAnswering),
    runs: firstOf(rows, SHOWN.runs),
    runsFromMs: Math.max(madeAtMs - DAY_MS, fromMs),
    moments: {
      refusals: momentsOf(events, refusalCount),
      restarts: momentsOf(events, ({ type }) => type === 'runRestarts' || type === 'started'),
      failures: momentsOf(
        events,
        (event) => event.type === 'startFailed' || (event.type === 'runEnded' && isFailure(event)),
      ),
      troubles: momentsOf(events, isTrouble),
    },
    refusals: firstOf(refusalsIn(events), SHOWN.refusals),
    ports: firstOf(portTroubles(events), SHOWN.ports),
    tunnelsOpened: events.filter(({ type }) => type === 'tunnelOpened').length,
    tunnelsEnded: firstOf(tunnelEnds(events), SHOWN.tunnelEnds),
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

function firstOf<One>(all: readonly One[], most: number): Shown<One> {
  return { shown: all.slice(0, most), left: Math.max(0, all.length - most) };
}

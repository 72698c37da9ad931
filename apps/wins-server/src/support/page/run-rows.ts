import type { DetachedSummary, RunFigures } from '@wins/wins-api/contract';
import { runKey, withUnknownEnds, type Life, type RunHistory } from './history.js';

/** A run as the page shows it. */
export interface RunRow {
  readonly name: string;
  readonly process: string;
  readonly path: string;
  readonly state: string;
  /** Whether the daemon gave it up or cannot start it, or its last attempt failed. */
  readonly isFailing: boolean;
  readonly isAlive: boolean;
  readonly restarts: number;
  readonly failures: number;
  readonly lives: readonly Life[];
  readonly memoryBytes: number | undefined;
  readonly memoryLimitBytes: number | undefined;
}

/** The living runs, as the daemon reports them. */
export interface LivingRuns {
  /** False if no daemon answers, so that nobody knows which runs live. */
  readonly isKnown: boolean;
  readonly figures: readonly RunFigures[];
  readonly detached: readonly DetachedSummary[];
}

/** Joins what events and the daemon tell about runs. Runs with a problem come first, then living ones, then the latest. */
export function runRows(histories: readonly RunHistory[], living: LivingRuns): readonly RunRow[] {
  const rows = new Map<string, RunHistory>();
  for (const history of histories) rows.set(runKey(history.name, history.process), history);
  for (const { name: process, detachedName, startedAtMs } of living.figures)
    addUnknown(rows, { name: detachedName || process, process, path: '' }, lasting(startedAtMs));
  for (const { name, process, path, startedAtMs, end } of living.detached) {
    const life: Life = {
      fromMs: startedAtMs,
      toMs: end?.endedAtMs,
      end: end && `${end.exit?.reason ?? ''} (code ${end.exit?.code ?? ''})`,
      isFailure: false,
    };
    addUnknown(rows, { name, process, path }, life);
  }
  return [...rows.values()]
    .map((history) => rowOf(history, living))
    .sort((one, other) => rankOf(one) - rankOf(other) || latestMs(other) - latestMs(one));
}

/** Adds a run of which no event is left. */
function addUnknown(
  rows: Map<string, RunHistory>,
  about: Pick<RunHistory, 'name' | 'process' | 'path'>,
  life: Life,
): void {
  const isKnown = [...rows.values()].some(
    ({ name, process }) => process === about.process && isSameName(about.name, name),
  );
  if (isKnown) return;
  const history = { ...about, lives: [life], restartsMs: [], gaveUp: undefined };
  rows.set(runKey(about.name, about.process), history);
}

function lasting(fromMs: number): Life {
  return { fromMs, toMs: undefined, end: undefined, isFailure: false };
}

/** To an administrator, a run of another owner is OWNER/NAME. Events have the name alone. */
function isSameName(told: string, name: string): boolean {
  return told === name || told.endsWith(`/${name}`);
}

function rowOf(history: RunHistory, { isKnown, figures, detached }: LivingRuns): RunRow {
  const { name, process, restartsMs } = history;
  const alive = figures.filter(
    (figure) => figure.name === process && isSameName(figure.detachedName || figure.name, name),
  );
  const kept = detached.find((one) => one.process === process && isSameName(one.name, name));
  const lives = withUnknownEnds(history.lives, alive.length);
  const last = lives.at(-1);
  const [figure] = alive;
  const gaveUp = kept === undefined ? history.gaveUp : kept.gaveUp;
  const isGivenUp = gaveUp !== undefined && gaveUp !== '';
  const isRefused = kept !== undefined && kept.refused !== '';
  const memoryLimitBytes = figure?.limits?.memoryBytes;
  return {
    name,
    process,
    path: history.path || (kept?.path ?? ''),
    state: stateOf({ last, figure, kept, gaveUp, isKnown }),
    isFailing: isGivenUp || isRefused || (alive.length === 0 && last?.isFailure === true),
    isAlive: alive.length > 0,
    restarts: restartsMs.length,
    failures: lives.filter(({ isFailure }) => isFailure).length,
    lives,
    memoryBytes: figure?.usage?.memoryBytes,
    memoryLimitBytes: memoryLimitBytes === 0 ? undefined : memoryLimitBytes,
  };
}

interface Known {
  readonly last: Life | undefined;
  readonly figure: RunFigures | undefined;
  readonly kept: DetachedSummary | undefined;
  readonly gaveUp: string | undefined;
  readonly isKnown: boolean;
}

const DETACHED_STATES: Readonly<Record<string, string>> = {
  waiting: 'waits to be started again',
  stopped: 'stopped, and stays so',
};

function stateOf({ last, figure, kept, gaveUp, isKnown }: Known): string {
  if (figure !== undefined) return figure.state;
  if (kept !== undefined && kept.refused !== '') return `cannot be started: ${kept.refused}`;
  if (gaveUp !== undefined && gaveUp !== '') return `given up: ${gaveUp}`;
  const word = kept === undefined ? undefined : DETACHED_STATES[kept.state];
  if (word !== undefined) return word;
  if (last === undefined) return kept?.state ?? 'unknown';
  if (last.end !== undefined && last.toMs !== undefined) return `ended: ${last.end}`;
  return isKnown ? 'ended; its end is not among the events' : 'unknown, as no daemon answers';
}

function rankOf({ isFailing, isAlive }: RunRow): number {
  if (isFailing) return 0;
  return isAlive ? 1 : 2;
}

function latestMs({ lives }: RunRow): number {
  const last = lives.at(-1);
  return last?.toMs ?? last?.fromMs ?? 0;
}

import type { Run } from '@wins/wins-api/contract';
import type { Life } from '../../kernel/events/daemon-lives.js';
import { isFailure, runKey, withUnknownEnds, type RunHistory } from './history.js';

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

/** The runs that live or are kept, as the daemon reports them. */
export interface KnownRuns {
  /** False if no daemon answers, so that nobody knows which runs live. */
  readonly isKnown: boolean;
  readonly runs: readonly Run[];
}

/** Joins what events and the daemon tell about runs. Runs with a problem come first, then living ones, then the latest. */
export function runRows(histories: readonly RunHistory[], known: KnownRuns): readonly RunRow[] {
  const rows = new Map<string, RunHistory>();
  for (const history of histories) rows.set(runKey(history.name, history.process), history);
  for (const run of known.runs) addUnknown(rows, run);
  return [...rows.values()]
    .map((history) => rowOf(history, known))
    .sort((one, other) => rankOf(one) - rankOf(other) || latestMs(other) - latestMs(one));
}

/** Adds a run of which no event is left. */
function addUnknown(
  rows: Map<string, RunHistory>,
  { name, process, path, startedAtMs, end }: Run,
): void {
  const isKnown = [...rows.values()].some(
    (row) => row.process === process && isSameName(name, row.name),
  );
  if (isKnown) return;
  const life: Life = {
    fromMs: startedAtMs,
    toMs: end?.endedAtMs,
    end: end && `${end.reason} (${end.signal ?? `code ${end.exitCode}`})`,
    isFailure: end !== undefined && isFailure({ ...end, code: end.exitCode }),
  };
  const lives = startedAtMs === 0 ? [] : [life];
  const history = { name, process, path, lives, restartsMs: [], gaveUp: undefined };
  rows.set(runKey(name, process), history);
}

/** To an administrator, a run of another owner is OWNER/NAME. Events have the name alone. */
function isSameName(told: string, name: string): boolean {
  return told === name || told.endsWith(`/${name}`);
}

function rowOf(history: RunHistory, { isKnown, runs }: KnownRuns): RunRow {
  const { name, process, restartsMs } = history;
  const own = runs.filter((run) => run.process === process && isSameName(run.name, name));
  // Figures are measured at most once a second, so a run that has just started has none.
  const alive = own.filter(({ state }) => ALIVE.has(state));
  const run = alive[0] ?? own[0];
  const lives = withUnknownEnds(history.lives, alive.length);
  const last = lives.at(-1);
  const gaveUp = (run === undefined ? history.gaveUp : run.gaveUp) || undefined;
  const isAlive = alive.length > 0;
  return {
    name,
    process,
    path: history.path || (run?.path ?? ''),
    state: isAlive && run ? run.state : stateOf({ last, run, gaveUp, isKnown }),
    isFailing:
      gaveUp !== undefined || run?.refused !== undefined || (!isAlive && last?.isFailure === true),
    isAlive,
    restarts: restartsMs.length,
    failures: lives.filter(({ isFailure }) => isFailure).length,
    lives,
    memoryBytes: run?.figures?.usage?.memoryBytes,
    memoryLimitBytes: run?.figures && run.limits?.memoryBytes,
  };
}

interface Known {
  readonly last: Life | undefined;
  readonly run: Run | undefined;
  readonly gaveUp: string | undefined;
  readonly isKnown: boolean;
}

const STATES: Readonly<Record<string, string>> = {
  waiting: 'waits to be started again',
  stopped: 'stopped, and stays so',
};

/** States of a run that has processes. */
const ALIVE: ReadonlySet<string> = new Set([
  'running',
  'stopping',
  'killing',
  'draining',
  'adopting',
]);

/** Says why a run does not live. */
function stateOf({ last, run, gaveUp, isKnown }: Known): string {
  if (run?.refused !== undefined) return `cannot be started: ${run.refused}`;
  if (gaveUp !== undefined) return `given up: ${gaveUp}`;
  const word = run && STATES[run.state];
  if (word !== undefined) return word;
  if (last === undefined) return run?.state ?? 'unknown';
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

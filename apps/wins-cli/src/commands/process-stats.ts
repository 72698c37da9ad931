import { EXIT, type Answer, type CommandSurroundings } from '@wins/base';
import { WinsClientError, type Run, type RunFigures, type RunStats } from '@wins/wins-api';
import { setTimeout as delay } from 'node:timers/promises';
import { withDaemonOfAdministrators, type DaemonOptions } from '../daemon/connect-daemon.js';
import { watchAnswer } from './process-ls.js';
import { factsOf, formatBytes } from './run-facts.js';

export interface StatsOptions extends DaemonOptions {
  /** Absent: all runs that this client may see. */
  readonly name?: string | undefined;
  readonly watch: boolean;
  readonly bars?: boolean;
}

/** The daemon measures once a second. */
const BETWEEN_MS = 1000;
/** Delay when the daemon has not measured since the previous answer. */
const AGAIN_MS = 100;

export async function showStats(options: StatsOptions, { show }: CommandSurroundings) {
  const { name = '', watch, bars = false } = options;
  await withDaemonOfAdministrators(options, async (client, onDaemonChange) => {
    let earlier: RunStats | undefined;
    const ask = async (signal?: AbortSignal): Promise<Answer> => {
      const given = signal && { signal };
      for (;;) {
        const latest = await client.runs.measure(name, given);
        onDaemonChange('serving');
        const before = earlier;
        earlier = latest;
        if (before !== undefined && latest.takenAtUs > before.takenAtUs)
          return answerOf(before, latest, bars);
        await delay(before === undefined ? BETWEEN_MS : AGAIN_MS, undefined, given);
      }
    };
    if (!watch) {
      await show(await ask());
      return;
    }
    try {
      await watchAnswer(ask, show);
    } catch (error) {
      if (!hasEnded(error) || earlier === undefined) throw error;
    }
  });
  return EXIT.client.ok;
}

function hasEnded(error: unknown): boolean {
  return error instanceof WinsClientError && error.code === 'notFound';
}

const HEADINGS = ['NAME', 'STATE', 'CPU %', 'MEMORY', 'PROCESSES', 'STDOUT', 'STDERR', 'PAUSES'];
const UNKNOWN = '-';
const BAR_CELLS = 10;

function within(figure: string | undefined, limit: string | number | null): string {
  return limit === null ? (figure ?? UNKNOWN) : `${figure ?? UNKNOWN} / ${limit}`;
}

/** A full bar means the run's limit. Without a limit, it means one processor (CPU), or the memory of the largest run (MEM). */
function bar(share: number): string {
  const full = Math.round(Math.min(1, share) * BAR_CELLS);
  return '█'.repeat(full).padEnd(BAR_CELLS, '·');
}

function answerOf(before: RunStats, latest: RunStats, bars: boolean): Answer {
  const earlier = new Map(before.runs.map((run) => [runKey(run), run]));
  const tookMs = (latest.takenAtUs - before.takenAtUs) / 1000;
  const runs = latest.runs.map((run) => {
    const { usage, stdoutBytes, stderrBytes, pauses: outputPauses } = run.figures;
    return {
      ...factsOf(run),
      cpuPercent: cpuPercentOf(earlier.get(runKey(run))?.figures, run.figures, tookMs),
      cpuMs: usage?.cpuMs ?? null,
      memoryBytes: usage?.memoryBytes ?? null,
      processes: usage?.processes ?? null,
      stdoutBytes,
      stderrBytes,
      outputPauses,
    };
  });
  const mostBytes = Math.max(1, ...runs.map(({ memoryBytes }) => memoryBytes ?? 0));
  const rows = runs.map((run) => [
    run.name,
    run.state,
    ...(bars
      ? [
          bar((run.cpuPercent ?? 0) / ((run.cpuLimit ?? 1) * 100)),
          bar((run.memoryBytes ?? 0) / (run.memoryLimitBytes ?? mostBytes)),
        ]
      : []),
    within(run.cpuPercent?.toFixed(1), run.cpuLimit && String(run.cpuLimit * 100)),
    within(
      run.memoryBytes === null ? undefined : formatBytes(run.memoryBytes),
      run.memoryLimitBytes && formatBytes(run.memoryLimitBytes),
    ),
    within(run.processes?.toString(), run.processLimit && String(run.processLimit)),
    formatBytes(run.stdoutBytes),
    formatBytes(run.stderrBytes),
    String(run.outputPauses),
  ]);
  return {
    value: runs,
    table: {
      headings: bars ? HEADINGS.toSpliced(2, 0, 'CPU', 'MEM') : HEADINGS,
      rows,
      drops: ['PAUSES', 'STDERR', 'STDOUT', 'PROCESSES'],
    },
    names: runs.map(({ name }) => name),
  };
}

export function runKey({ process, startedAtMs }: Pick<Run, 'process' | 'startedAtMs'>): string {
  return `${process} ${startedAtMs}`;
}

/** Processor use between two measurements: 100 is one whole processor, 200 two. Null if it cannot be measured. */
export function cpuPercentOf(
  earlier: Pick<RunFigures, 'usage'> | undefined,
  latest: Pick<RunFigures, 'usage'>,
  tookMs: number,
): number | null {
  if (earlier?.usage === undefined || latest.usage === undefined || tookMs <= 0) return null;
  const usedMs = latest.usage.cpuMs - earlier.usage.cpuMs;
  return Math.round((1000 * usedMs) / tookMs) / 10;
}

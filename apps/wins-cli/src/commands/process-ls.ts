import { EXIT, type Answer, type CommandSurroundings, type Show } from '@wins/base';
import type { EnforcedLimits, ListedRun } from '@wins/wins-api';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  withDaemon,
  withDaemonOfAdministrators,
  type DaemonOptions,
} from '../daemon/connect-daemon.js';
import { listenForInterruptions } from '../interruptions.js';
import { StandardOutput } from '../standard-output.js';
import { listDetached } from './detached/list-detached.js';

export interface ListOptions extends DaemonOptions {
  readonly watch: boolean;
  readonly detached: boolean;
}

export async function listProcesses(options: ListOptions, { show }: CommandSurroundings) {
  const run = options.detached ? withDaemonOfAdministrators : withDaemon;
  await run(options, async (client, onDaemonChange) => {
    const ask = async (signal?: AbortSignal): Promise<Answer> => {
      const answer = options.detached
        ? await listDetached(client, signal)
        : answerOf(await client.listProcesses(signal && { signal }));
      onDaemonChange('serving');
      return answer;
    };
    if (options.watch) await watchAnswer(ask, show);
    else await show(await ask());
  });
  return EXIT.client.ok;
}

function answerOf(runs: readonly ListedRun[]): Answer {
  const value = runs.map((run) => ({
    name: nameOf(run),
    process: run.name,
    path: run.path,
    state: run.state,
    pid: run.pid,
    startedAt: run.startedAt,
    sha256: run.sha256,
    exposes: run.exposes.map(({ protocol, port }) => `${protocol}:${port}`),
    ...limitFigures(run.limits),
  }));
  const rows = value.map((run) => [
    run.name,
    String(run.pid),
    run.state,
    run.startedAt.toISOString(),
    run.exposes.join(' '),
    limitsText(run),
    run.path,
  ]);
  return {
    value,
    table: {
      headings: ['NAME', 'PID', 'STATE', 'STARTED', 'EXPOSES', 'LIMITS', 'PATH'],
      rows,
      drops: ['PATH', 'LIMITS', 'STARTED', 'EXPOSES'],
    },
    names: runs.map(nameOf),
  };
}

export interface NamedRun {
  readonly name: string;
  readonly detachedName?: string;
}

/** The name that a detached run was given, or else the name of the process. */
export function nameOf({ name, detachedName }: NamedRun): string {
  return detachedName || name;
}

export function limitFigures(limits: EnforcedLimits | undefined) {
  return {
    memoryLimitBytes: limits?.memoryBytes ?? null,
    cpuLimit: limits?.cpus ?? null,
    processLimit: limits?.pids ?? null,
    limitedBy: limits?.means ?? null,
  };
}

type LimitFigures = ReturnType<typeof limitFigures>;

/** Names the limits of a run and what enforces them; empty without limits. */
export function limitsText(limits: LimitFigures): string {
  const { memoryLimitBytes, cpuLimit, processLimit, limitedBy } = limits;
  if (limitedBy === null) return '';
  const each = [
    ...(memoryLimitBytes === null ? [] : [formatBytes(memoryLimitBytes)]),
    ...(cpuLimit === null ? [] : [`${cpuLimit} cpus`]),
    ...(processLimit === null ? [] : [`${processLimit} pids`]),
  ];
  return `${each.join(', ')} by ${limitedBy}`;
}

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

/** In powers of 1,024: `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 'B'];
  for (const larger of UNITS) {
    if (value < 1024) break;
    [value, unit] = [value / 1024, larger];
  }
  return unit === 'B' ? `${value} B` : `${value.toFixed(1)} ${unit}`;
}

const EVERY_MS = 1000;

/** Prints an answer now and after each change, until the reader leaves. Polls, because earlier daemons do not report changes. */
export async function watchAnswer(ask: (signal: AbortSignal) => Promise<Answer>, show: Show) {
  const interrupted = new AbortController();
  using out = new StandardOutput().watch();
  const signal = AbortSignal.any([interrupted.signal, out.gone]);
  using _interruptions = listenForInterruptions(() => interrupted.abort());
  let shown: unknown;
  try {
    for (;;) {
      const answer = await ask(signal);
      if (!isDeepStrictEqual(answer.value, shown)) {
        shown = answer.value;
        if (!(await show({ ...answer, isRenewed: true }))) return;
      }
      await delay(EVERY_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

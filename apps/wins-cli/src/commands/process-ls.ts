import type { EnforcedLimits, ListedRun } from '@wins/wins-api';
import { EXIT, type Answer, type CommandSurroundings } from '@wins/base';
import { withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';
import { formatBytes } from './format-bytes.js';
import { listDetached } from './lasting-runs.js';
import { watchAnswer } from './watch-answer.js';

export interface ListOptions extends DaemonOptions {
  readonly watch: boolean;
  /** Lists detached runs instead, including ended ones. */
  readonly detached: boolean;
}

export async function listProcesses(
  options: ListOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  await withDaemon(options, async (client, answered) => {
    const ask = async (signal?: AbortSignal): Promise<Answer> => {
      const answer = options.detached
        ? await listDetached(client, signal)
        : answerOf(await client.listProcesses(signal && { signal }));
      answered();
      return answer;
    };
    if (options.watch) await watchAnswer(ask, show);
    else await show(await ask());
  });
  return EXIT.client.ok;
}

function answerOf(runs: readonly ListedRun[]): Answer {
  const value = runs.map(({ runId: _, outlivesDaemon: _outlives, exposes, limits, ...run }) => ({
    ...run,
    exposes: exposes.map(({ protocol, port }) => `${protocol}:${port}`),
    ...limitFigures(limits),
  }));
  const rows = runs.map(({ pid, startedAt, limits, ...run }, at) => [
    ...[run.name, String(pid), run.state, startedAt.toISOString()],
    ...[value[at]?.exposes.join(' ') ?? '', limitsText(limits), run.path],
  ]);
  return {
    value,
    table: { headings: ['NAME', 'PID', 'STATE', 'STARTED', 'EXPOSES', 'LIMITS', 'PATH'], rows },
    names: runs.map(({ name }) => name),
  };
}

/** Returns the limits of a run as data; null for an absent limit. */
export function limitFigures(limits: EnforcedLimits | undefined) {
  return {
    memoryLimitBytes: limits?.memoryBytes ?? null,
    cpuLimit: limits?.cpus ?? null,
    processLimit: limits?.pids ?? null,
    limitedBy: limits?.means ?? null,
  };
}

function limitsText(limits: EnforcedLimits | undefined): string {
  if (limits === undefined) return '';
  const { memoryBytes, cpus, pids, means } = limits;
  const each = [
    ...(memoryBytes === undefined ? [] : [formatBytes(memoryBytes)]),
    ...(cpus === undefined ? [] : [`${cpus} cpus`]),
    ...(pids === undefined ? [] : [`${pids} pids`]),
  ];
  return `${each.join(', ')} by ${means}`;
}

import { type ProcessSummary, type RunLimits, RunExposeProtocol } from '@wins/wins-api';
import { EXIT, type Answer, type CommandSurroundings } from '@wins/base';
import { withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';
import { formatBytes } from './format-bytes.js';
import { watchAnswer } from './watch-answer.js';

export interface ListOptions extends DaemonOptions {
  /** Shows the list again whenever it has changed, until this program is interrupted. */
  readonly watch: boolean;
}

/** `wins cli prc ls`: the processes that the daemon runs now. */
export async function listProcesses(
  options: ListOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  await withDaemon(options, async (client, answered) => {
    const ask = async (signal?: AbortSignal): Promise<Answer> => {
      const processes = await client.listProcesses(signal && { signal });
      answered();
      return answerOf(processes);
    };
    if (options.watch) await watchAnswer(ask, show);
    else await show(await ask());
  });
  return EXIT.client.ok;
}

function answerOf(processes: readonly ProcessSummary[]): Answer {
  const rows = processes.map((process) => [
    process.Name?.Value ?? '',
    String(process.PID),
    process.State,
    new Date(Number(process.StartedAtMs)).toISOString(),
    exposesOf(process).join(' '),
    limitsText(process.Limits),
    process.Path,
  ]);
  return {
    value: processes.map((process) => ({
      Name: process.Name?.Value ?? '',
      Path: process.Path,
      State: process.State,
      PID: process.PID,
      StartedAt: new Date(Number(process.StartedAtMs)).toISOString(),
      Exposes: exposesOf(process),
      DigestSHA256: process.DigestSHA256,
      ...limitFigures(process.Limits),
    })),
    table: { headings: ['NAME', 'PID', 'STATE', 'STARTED', 'EXPOSES', 'LIMITS', 'PATH'], rows },
    names: processes.map(({ Name }) => Name?.Value ?? ''),
  };
}

/** The limits of a run in data; null where there is none. */
export function limitFigures(limits: RunLimits | undefined) {
  return {
    MemoryLimitBytes: Number(limits?.MemoryBytes ?? 0n) || null,
    CpuLimit: (limits?.CpuMillis ?? 0) / 1000 || null,
    ProcessLimit: (limits?.Pids ?? 0) || null,
    LimitedBy: limits?.Means ?? null,
  };
}

/** `64.0 MiB, 0.5 cpus, 8 pids by cgroup`; empty without any. */
function limitsText(limits: RunLimits | undefined): string {
  if (limits === undefined) return '';
  const { MemoryLimitBytes, CpuLimit, ProcessLimit } = limitFigures(limits);
  const each = [
    ...(MemoryLimitBytes === null ? [] : [formatBytes(MemoryLimitBytes)]),
    ...(CpuLimit === null ? [] : [`${CpuLimit} cpus`]),
    ...(ProcessLimit === null ? [] : [`${ProcessLimit} pids`]),
  ];
  return `${each.join(', ')} by ${limits.Means}`;
}

function exposesOf(process: ProcessSummary): string[] {
  return process.Exposes.map(
    ({ Port, Protocol }) => `${Protocol === RunExposeProtocol.UDP ? 'UDP' : 'TCP'}:${Port}`,
  );
}

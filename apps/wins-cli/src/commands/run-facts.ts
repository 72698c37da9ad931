import type { Run } from '@wins/wins-api';

/** A run as every command prints it. */
export function factsOf(run: Run) {
  const { name, process, lifetime, state, path, sha256, exposes, limits, end, restarts } = run;
  const isBegun = run.pid !== 0;
  return {
    name,
    process,
    lifetime,
    state,
    path,
    pid: isBegun ? run.pid : null,
    startedAt: isBegun ? new Date(run.startedAtMs) : null,
    sha256: sha256 || null,
    exposes: exposes.map(({ protocol, port }) => `${protocol}:${port}`),
    memoryLimitBytes: limits?.memoryBytes ?? null,
    cpuLimit: limits?.cpus ?? null,
    processLimit: limits?.pids ?? null,
    limitedBy: limits?.means ?? null,
    endedAt: end ? new Date(end.endedAtMs) : null,
    exit: end ? { exitCode: end.exitCode, signal: end.signal, reason: end.reason } : null,
    outputBytes: end?.outputBytes ?? null,
    restarts,
    restartAt: run.restartAtMs === undefined ? null : new Date(run.restartAtMs),
    gaveUp: run.gaveUp ?? null,
    refused: run.refused ?? null,
  };
}

export type RunFacts = ReturnType<typeof factsOf>;

export function exitText({ exit }: RunFacts): string {
  if (exit === null) return '';
  return exit.reason === 'outOfMemory' ? exit.reason : (exit.signal ?? String(exit.exitCode));
}

/** Names the limits of a run and what enforces them; empty without limits. */
export function limitsText(run: RunFacts): string {
  const { memoryLimitBytes, cpuLimit, processLimit, limitedBy } = run;
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

import type { Answer } from '@wins/base';
import type { DetachedRun, RunExit, WinsClient } from '@wins/wins-api';
import { askQuietly } from '../../daemon/ask-quietly.js';

export async function listDetached(client: WinsClient, signal?: AbortSignal): Promise<Answer> {
  const runs = (await client.detached.list({ signal })).map(shownRun);
  const rows = runs.map((run) => [
    run.name,
    String(run.pid),
    run.state,
    run.startedAt.toISOString(),
    exitText(run.exit),
    String(run.restarts),
    run.path,
    run.gaveUp ?? run.refused ?? '',
  ]);
  return {
    value: runs,
    table: {
      headings: ['NAME', 'PID', 'STATE', 'STARTED', 'EXIT', 'RESTARTS', 'PATH', 'WHY'],
      rows,
      drops: ['PATH', 'STARTED', 'PID', 'RESTARTS'],
    },
    names: runs.map(({ name }) => name),
  };
}

/** Returns the facts of a detached run as all commands print them. */
export function shownRun({
  name,
  process,
  path,
  pid,
  state,
  startedAt,
  end,
  ...more
}: DetachedRun) {
  return {
    name,
    process,
    path,
    pid,
    state,
    startedAt,
    endedAt: end?.endedAt ?? null,
    exit: end?.exit ?? null,
    outputBytes: end?.outputBytes ?? null,
    restarts: more.restarts,
    restartAt: more.restartAt ?? null,
    gaveUp: more.gaveUp ?? null,
    refused: more.refused ?? null,
  };
}

export function exitText(exit: RunExit | null): string {
  if (exit === null) return '';
  if (exit.reason === 'outOfMemory') return exit.reason;
  return exit.signal ?? String(exit.exitCode);
}

/** @throws Error when no valid answer arrives before the signal aborts. */
export function detachedRunNames(server: string | undefined, signal: AbortSignal) {
  return askQuietly(
    server,
    signal,
    async (client) => (await listDetached(client, signal)).names ?? [],
  );
}

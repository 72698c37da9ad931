import type { Answer } from '@wins/base';
import type { DetachedRun, RunExit, WinsClient } from '@wins/wins-api';

export async function listDetached(client: WinsClient, signal?: AbortSignal): Promise<Answer> {
  const runs = (await client.detached.list({ signal })).map((run) => {
    const { end: _end, needsSha256: _digest, ...facts } = run;
    return { ...facts, ...outcomeOf(run) };
  });
  return {
    value: runs,
    table: {
      headings: ['NAME', 'PID', 'STATE', 'STARTED', 'EXIT', 'RESTARTS', 'PATH', 'WHY'],
      rows: runs.map((run) => [
        run.name,
        String(run.pid),
        run.state,
        run.startedAt.toISOString(),
        exitText(run.exit),
        String(run.restarts),
        run.path,
        run.gaveUp ?? run.refused ?? '',
      ]),
      drops: ['PATH', 'STARTED', 'PID', 'RESTARTS'],
    },
    names: runs.map(({ name }) => name),
  };
}

/** Describes how the last attempt ended, and whether another follows, as all commands print it. */
export function outcomeOf({ end, restartAt, gaveUp, refused }: DetachedRun) {
  return {
    endedAt: end?.endedAt ?? null,
    exit: end?.exit ?? null,
    outputBytes: end?.outputBytes ?? null,
    restartAt: restartAt ?? null,
    gaveUp: gaveUp ?? null,
    refused: refused ?? null,
  };
}

export function exitText(exit: RunExit | null): string {
  if (exit === null) return '';
  return exit.reason === 'outOfMemory' ? exit.reason : (exit.signal ?? String(exit.exitCode));
}

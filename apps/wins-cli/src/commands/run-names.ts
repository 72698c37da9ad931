import type { CallOptions, Run, WinsClient } from '@wins/wins-api';
import { askQuietly } from '../daemon/ask-quietly.js';

/** Returns a function that lists names of runs. It rejects when no valid answer arrives before the signal aborts. */
export function namesOf(
  list: (runs: WinsClient['runs'], options: CallOptions) => Promise<readonly Run[]>,
) {
  return (server: string | undefined, signal: AbortSignal): Promise<readonly string[]> =>
    askQuietly(server, signal, async ({ runs }) =>
      (await list(runs, { signal })).map(({ name }) => name),
    );
}

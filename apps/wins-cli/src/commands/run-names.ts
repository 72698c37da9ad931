import type { CallOptions, WinsClient } from '@wins/wins-api';
import { askQuietly } from '../daemon/ask-quietly.js';
import { nameOf, type NamedRun } from './process-ls.js';

/** Returns a function that lists names of runs. It rejects when no valid answer arrives before the signal aborts. */
export function namesOf(
  list: (client: WinsClient, options: CallOptions) => Promise<readonly NamedRun[]>,
) {
  return (server: string | undefined, signal: AbortSignal): Promise<readonly string[]> =>
    askQuietly(server, signal, async (client) => (await list(client, { signal })).map(nameOf));
}

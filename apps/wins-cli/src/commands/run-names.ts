import { askQuietly } from '../daemon/ask-quietly.js';
import { nameOf } from './process-ls.js';

/** @throws Error when no valid answer arrives before the signal aborts. */
export function runNames(server: string | undefined, signal: AbortSignal) {
  return askQuietly(server, signal, async (client) =>
    (await client.listProcesses({ signal })).map(nameOf),
  );
}

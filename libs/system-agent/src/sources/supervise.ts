import { Backoff } from '@wins/time';
import { SOURCE_BACKOFF } from '../source-backoff.js';
import type { AgentOptions } from '../system-agent.js';

/** A source that ran for so long starts again as if it had not failed before. */
const STEADY_MS = 10 * 60 * 1000;

/** Runs a source until the signal aborts: reports one that ends before and starts it again; it stops nothing else. */
export async function supervise(
  { source, clock, onEvent }: Pick<AgentOptions, 'clock' | 'onEvent'> & { readonly source: string },
  run: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const backOff = new Backoff(SOURCE_BACKOFF);
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    const startedMs = clock.now().getTime();
    const error = await run(signal).then(
      () => new Error('it ended'),
      (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason))),
    );
    if (isOver()) return;
    if (clock.now().getTime() - startedMs > STEADY_MS) backOff.reset();
    onEvent({
      kind: 'warning',
      source,
      message: 'the source of plans ended and starts again',
      error,
    });
    // Rejects when the signal aborts.
    await backOff.wait(signal, clock).catch(() => undefined);
  }
}

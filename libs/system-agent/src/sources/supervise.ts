import { Backoff } from '@wins/time';
import { SOURCE_BACKOFF } from '../kubernetes/connections.js';
import type { AgentOptions } from '../system-agent.js';

/** Run time that resets the back-off of a source. */
const STEADY_MS = 10 * 60 * 1000;

/** Reports a premature end of a source, and restarts it. */
export async function supervise(
  { source, clock, onEvent }: Pick<AgentOptions, 'clock' | 'onEvent'> & { readonly source: string },
  run: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const backOff = new Backoff(SOURCE_BACKOFF);
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    const startedMs = clock.monotonicMs();
    const error = await run(signal).then(
      () => new Error('it ended'),
      (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason))),
    );
    if (isOver()) return;
    if (clock.monotonicMs() - startedMs > STEADY_MS) backOff.reset();
    onEvent({
      kind: 'warning',
      source,
      message: 'the source of plans ended and starts again',
      error,
    });
    await backOff.wait({ signal, clock }).catch(() => undefined);
  }
}

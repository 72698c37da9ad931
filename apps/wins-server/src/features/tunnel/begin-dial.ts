import type { BeginDial } from '@wins/tcp-tunnel';
import type { ClientIdentity } from '@wins/base';
import type { Shares } from '../../kernel/admission/shares.js';

/** Begins a dial when it is the turn of its client. @returns Takes it back, also while it waits. Idempotent. */
export function beginDialOf(
  dials: Pick<Shares, 'wait'>,
  client: ClientIdentity,
  begin: BeginDial,
): () => void {
  const over = new AbortController();
  const { signal } = over;
  let giveUp: (() => void) | undefined;
  dials.wait(client, signal).then(
    (claim) => {
      if (signal.aborted) {
        claim.release();
        return;
      }
      signal.addEventListener('abort', () => claim.release());
      giveUp = begin(() => over.abort());
    },
    // It was taken back while it waited.
    () => undefined,
  );
  return () => {
    if (signal.aborted) return;
    giveUp?.();
    over.abort();
  };
}

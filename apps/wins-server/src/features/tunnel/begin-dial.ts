import type { BeginDial } from '@wins/tcp-tunnel';
import type { ClientIdentity } from '@wins/base';
import type { Claim, Shares } from '../../kernel/admission/shares.js';

/**
 * Begins a dial when it is the turn of its client, which may be at once. One runs for every stream, so
 * it takes neither a promise nor a signal.
 *
 * @returns Takes it back, also while it waits. Idempotent.
 */
export function beginDialOf(
  dials: Pick<Shares, 'wait'>,
  client: ClientIdentity,
  begin: BeginDial,
): () => void {
  let claim: Claim | undefined;
  let giveUp: (() => void) | undefined;
  const leave = dials.wait(client, (made) => {
    claim = made;
    giveUp = begin(() => made.release());
  });
  return () => {
    leave();
    giveUp?.();
    giveUp = undefined;
    claim?.release();
  };
}

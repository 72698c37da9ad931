import type { BeginDial } from '@wins/tcp-tunnel';
import type { ClientIdentity } from '@wins/base';
import type { Claim, Shares } from '../../kernel/admission/shares.js';

/**
 * Starts a dial when the client's share allows one. Runs for every stream, so avoids promises and signals.
 *
 * @returns A function that cancels the dial, also while it is queued. Idempotent.
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

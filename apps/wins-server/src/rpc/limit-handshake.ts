import type { Duplex } from 'node:stream';

/**
 * Destroys a connection whose client has not greeted completely within a time, in milliseconds.
 *
 * After a stall of this process timers run before what came meanwhile is read; an immediate runs after, so that the
 * client does not pay for our delay.
 *
 * @returns Ends the limit; the end of the connection does, too. Idempotent.
 */
export function limitHandshake(connection: Duplex, timeoutMs: number): () => void {
  let last: NodeJS.Immediate | undefined;
  const deadline = setTimeout(() => {
    last = setImmediate(() => connection.destroy());
  }, timeoutMs);
  const end = (): void => {
    clearTimeout(deadline);
    clearImmediate(last);
  };
  connection.once('close', end);
  return end;
}

import type { ServerWritableStream } from '@grpc/grpc-js';
import type { DebugPiece } from '@wins/wins-api/contract';
import { once } from 'node:events';
import { goneSignal } from '../../../kernel/rpc/administrators-only.js';

/** Sends pieces as fast as the client takes them, then ends the call; a broken call ends the pieces. */
export async function sendPieces(
  call: ServerWritableStream<unknown, DebugPiece>,
  make: (gone: AbortSignal) => AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<void> {
  const signal = goneSignal(call);
  if (call.cancelled) return;
  try {
    for await (const Data of make(signal)) {
      signal.throwIfAborted();
      if (!call.write({ Data })) await once(call, 'drain', { signal });
    }
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  call.end();
}

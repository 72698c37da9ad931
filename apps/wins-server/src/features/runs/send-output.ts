import type { ServerWritableStream } from '@grpc/grpc-js';
import type { OutputPart, OutputReader } from '@wins/process-manager';

/** Time for which a client may take nothing before its reader frees what it read ahead. */
const REST_MS = 50;

/**
 * Sends output as fast as the client takes it, and closes the reader. Reads a part only when the stream has taken the one before, so a client that
 * takes nothing makes the daemon hold about one part. A slow client of a log in memory gets larger parts.
 *
 * @param gone - Aborts when the client is gone. It should also close the reader.
 * @returns False when the client is gone.
 */
export async function sendOutput<Request, Message>(
  call: ServerWritableStream<Request, Message>,
  gone: AbortSignal,
  reader: OutputReader,
  messageOf: (part: OutputPart) => Message,
): Promise<boolean> {
  let goOn = (): void => undefined;
  let taken = Promise.resolve();
  // A function of its own, so that no part stays in memory while its message waits.
  const sendNext = async (): Promise<boolean> => {
    const part = await reader.next();
    if (part === undefined || gone.aborted) return false;
    taken = new Promise((resolve) => {
      goOn = resolve;
    });
    call.write(messageOf(part), goOn);
    return true;
  };
  // grpc-js never calls back for a message of a cancelled call.
  const leave = (): void => goOn();
  gone.addEventListener('abort', leave, { once: true });
  const resting = setTimeout(() => reader.rest(), REST_MS);
  try {
    while (await sendNext()) {
      resting.refresh();
      await taken;
    }
    return !gone.aborted;
  } finally {
    clearTimeout(resting);
    gone.removeEventListener('abort', leave);
    reader.close();
  }
}

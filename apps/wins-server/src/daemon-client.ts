import { connectPipe, resolvePipePath, type PipeServerCheck } from '@wins/pipe-transport';
import { createWinsClient, routeGrpcLog, type WinsClient } from '@wins/wins-api';

/**
 * Asks the daemon behind a pipe something and closes the connection, however that ends.
 *
 * @param security - Checks who serves the pipe. Default: any server is trusted.
 * @throws PipeError for a name that is none, WinsClientError for what the daemon answers, with a PipeError as its cause where no connection
 * was made.
 */
export async function askDaemon<Answer>(
  pipe: string,
  clientName: string,
  security: PipeServerCheck | undefined,
  ask: (client: WinsClient) => Promise<Answer>,
): Promise<Answer> {
  // The library would print what the other end of the pipe sends; the error says what is wrong.
  routeGrpcLog(() => undefined);
  const client = createWinsClient({
    address: resolvePipePath(pipe).address,
    clientName,
    dial: () => connectPipe(pipe, { security }),
  });
  try {
    return await ask(client);
  } finally {
    await client.close();
  }
}

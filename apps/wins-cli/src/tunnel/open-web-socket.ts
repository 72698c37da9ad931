import { connectWebSocket, TunnelError, type OnTunnelSocket } from '@wins/tcp-tunnel';
import { networkIdentity } from '@wins/base';
import { connectTrustedPipe } from '../daemon/trusted-pipe.js';
import { handshakeFailure } from './handshake-failure.js';

/** Where the tunnel pipe is. */
export interface TunnelPipe {
  /** Name or path of the pipe. */
  readonly pipe: string;
  /** How long the connection may take, and how long the handshake on it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Connects to the tunnel pipe and shakes hands.
 *
 * @throws PipeError when there is no way to the pipe; Error when the other side does not shake hands; the reason of the signal; what `opened`
 *   throws.
 */
export async function openWebSocket<T>(
  { pipe, timeoutMs, signal }: TunnelPipe,
  opened: OnTunnelSocket<T>,
): Promise<T> {
  const connection = await connectTrustedPipe(pipe, { timeoutMs, signal });
  const dial = () => Promise.resolve(connection);
  const network = networkIdentity();
  try {
    return await connectWebSocket({ address: pipe, dial, signal, timeoutMs, network }, opened);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof TunnelError) || error.code !== 'unreachable') throw error;
    throw handshakeFailure(pipe, error.cause, timeoutMs);
  }
}

import { connectWebSocket, TunnelError, type OnTunnelSocket } from '@wins/tcp-tunnel';
import { networkIdentity } from '@wins/base';
import { connectTrustedPipe } from '../daemon/trusted-pipe.js';
import { handshakeFailure } from './handshake-failure.js';

export interface TunnelPipe {
  readonly pipe: string;
  /** Time limit for the connection, and again for the handshake on it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** @throws PipeError when the pipe cannot be reached; Error for a failed handshake; the signal's abort reason; any error that `opened` throws. */
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

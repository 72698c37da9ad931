import type { Socket } from 'node:net';
import { socketError } from '../node-errors.js';
import { ownBytes } from '../stream/own-bytes.js';
import type { TunnelChannel } from '../stream/tunnel-channel.js';

/**
 * Carries bytes both ways between a TCP socket and a channel until both are gone. Each direction ends by itself; a reset
 * on one side resets the other. Once the peer of the channel is gone, what the socket still sends is thrown away for up
 * to `lingerMs`, because closing at once would destroy the answer that is still on its way to the other program.
 *
 * Every wait for `drain` ends with the `close` of the stream waited for: there both sides are let go.
 */
export function joinSocket(socket: Socket, channel: TunnelChannel, lingerMs: number): void {
  let failure: Error | undefined;
  let linger: NodeJS.Timeout | undefined;

  const forward = (chunk: Buffer): void => {
    // A full buffer that is empty again by now was sent within the call.
    if (channel.write(chunk) || channel.writableLength === 0) return;
    socket.pause();
    channel.once('drain', () => socket.resume());
  };
  socket.on('data', forward);
  socket.on('end', () => channel.end());
  socket.on('error', (error) => (failure = error));
  socket.on('close', () => {
    clearTimeout(linger);
    const complete = failure === undefined && socket.readableEnded && socket.writableFinished;
    if (!complete && !channel.destroyed) channel.destroy(socketError(failure));
  });

  channel.on('data', (chunk: Buffer) => {
    // A socket that has sent all before is likely to send this within the call.
    if (socket.write(socket.writableLength === 0 ? chunk : ownBytes(chunk))) return;
    channel.pause();
    socket.once('drain', () => channel.resume());
  });
  channel.on('end', () => socket.end());
  // The `close` that follows acts on it.
  channel.on('error', () => undefined);
  channel.on('close', () => {
    if (socket.destroyed) return;
    if (!channel.readableEnded) {
      socket.resetAndDestroy();
      return;
    }
    // It goes by itself once the last bytes are out.
    if (socket.readableEnded) return;
    socket.off('data', forward);
    socket.resume();
    const begin = (): void => {
      linger = setTimeout(() => socket.destroy(), lingerMs);
    };
    if (socket.writableFinished) begin();
    else socket.once('finish', begin);
  });
}

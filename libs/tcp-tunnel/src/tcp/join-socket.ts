import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { socketError } from '../tunnel-error.js';
import { exactBuffer } from '../stream/fifo.js';
import { SessionStream } from '../stream/session-stream.js';

const NOTHING = Buffer.alloc(0);
/** How long a program may take to read what its socket still has for it, once its stream has ended in good order. */
const UNREAD_MS = 600_000;

/**
 * Copies bytes both ways between a TCP socket and a stream, or another socket, until both are closed. Each direction
 * ends independently; a reset on one side resets the other. After the stream's peer is gone, discards the socket's data
 * for up to `lingerMs`, because closing at once would destroy the answer still in transit to the other program. A
 * program that does not read the rest loses its connection after ten minutes.
 *
 * Every wait for `drain` also ends at the `close` of the awaited stream, which releases both sides.
 */
export function joinSocket(socket: Socket, stream: Duplex, lingerMs: number): void {
  let failure: Error | undefined;
  let linger: NodeJS.Timeout | undefined;
  if (stream instanceof SessionStream) {
    // Each read of a socket has memory of its own.
    stream.keepsWritten = true;
    stream.onTick = () => noticeReset(socket);
    stream.sink = socket;
  }

  const forward = (chunk: Buffer): void => {
    // A full buffer that is empty again by now was taken over: it is sent, or waits to be sent with the next chunk.
    if (stream.write(chunk) || stream.writableLength === 0) return;
    socket.pause();
    stream.once('drain', () => socket.resume());
  };
  socket.on('data', forward);
  const endStream = (): void => confirmEnd(socket, () => stream.end());
  // The end of a connection that brought nothing comes without being read, also while its stream was waited for.
  if (socket.readableEnded) endStream();
  else socket.on('end', endStream);
  socket.on('error', (error) => (failure = error));
  socket.on('close', () => {
    clearTimeout(linger);
    const complete = failure === undefined && socket.readableEnded && socket.writableFinished;
    if (complete || stream.destroyed) return;
    if (stream instanceof Socket) stream.resetAndDestroy();
    else stream.destroy(socketError(failure));
  });

  stream.on('data', (chunk: Buffer) => {
    if (socket.writableCorked > 0) {
      // The stream pauses itself after the last part of the message.
      socket.write(chunk);
      return;
    }
    // A socket that has sent all before is likely to send this within the call.
    const mayGoOn = socket.write(socket.writableLength === 0 ? chunk : exactBuffer(chunk));
    if (mayGoOn || socket.writableLength === 0) return;
    stream.pause();
    socket.once('drain', () => stream.resume());
  });
  stream.on('end', () => socket.end());
  // The `close` that follows acts on it.
  stream.on('error', () => undefined);
  stream.on('close', () => {
    if (socket.destroyed) return;
    if (!stream.readableEnded) {
      socket.resetAndDestroy();
      return;
    }
    linger = setTimeout(() => socket.resetAndDestroy(), UNREAD_MS);
    // It goes by itself once the last bytes are out.
    if (socket.readableEnded) return;
    socket.off('data', forward);
    socket.resume();
    const begin = (): void => {
      clearTimeout(linger);
      linger = setTimeout(() => socket.destroy(), lingerMs);
    };
    if (socket.writableFinished) begin();
    else socket.once('finish', begin);
  });
}

/**
 * Detects the reset of a socket that is not read, because it is paused or ended: the system then reports it only to a
 * write. An empty write sends nothing, and fails after a reset; the socket's `error` and `close` follow. The system
 * watches a pending write by itself.
 */
function noticeReset(socket: Socket): void {
  const isRead = !socket.isPaused() && !socket.readableEnded;
  if (!isRead && !socket.writableEnded && socket.writableLength === 0) socket.write(NOTHING);
}

/**
 * Calls `then` if a socket's end of data is not a reset: libuv takes a hang-up that arrives with the last bytes for an
 * end (`uv__stream_io`, POLLHUP after a partial read), and so misses the reset behind it. An empty write then fails,
 * and the socket's `error` and `close` follow. A socket already ended here cannot be checked.
 */
function confirmEnd(socket: Socket, then: () => void): void {
  if (socket.writableEnded) then();
  else if (socket.writableLength === 0)
    socket.write(NOTHING, (error) => {
      if (!error) then();
    });
  // What waits to be written fails in this turn if there was a reset; else it may wait for long, or be out and the socket gone by then.
  else
    setImmediate(() => {
      if (!socket.destroyed || socket.writableFinished) then();
    });
}

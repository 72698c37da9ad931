import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { socketError } from '../tunnel-error.js';
import { exactBuffer } from '../stream/fifo.js';
import { SessionStream } from '../stream/session-stream.js';

const NOTHING = Buffer.alloc(0);
/** A shorter chunk waits alone, because many of them would take much more memory than their bytes. */
const LEAST_AHEAD_BYTES = 4 * 1024;
/** Time for a program to read the rest of its data, in milliseconds, after the stream has ended cleanly. */
const UNREAD_MS = 600_000;

/**
 * Copies bytes both ways between a TCP socket and a stream, or another socket, until both are closed. Each direction
 * ends on its own; a reset on one side resets the other. Once the stream has closed, discards the socket's data for up
 * to `lingerMs`: closing at once would destroy bytes in transit to the program at the other end of the socket. If that
 * program does not read the rest of its data, it loses the connection after ten minutes.
 *
 * @param watch - Called for both, if they are to be read in turns: by `readable` events, while `mayRead` is true. A `resume` event follows when it
 * becomes true.
 */
export function joinSocket(
  socket: Socket,
  stream: Duplex,
  lingerMs: number,
  watch?: (readable: Duplex, mayRead: () => boolean) => void,
): void {
  let socketWaits = false;
  let streamWaits = false;
  let failure: Error | undefined;
  let linger: NodeJS.Timeout | undefined;
  if (stream instanceof SessionStream) {
    // A buffer read from the socket never changes, because the next read uses another one.
    stream.keepsWritten = true;
    stream.onTick = () => noticeReset(socket);
    stream.sink = socket;
  }

  const goOn = (): void => {
    socketWaits = false;
    socket.resume();
  };
  const streamSent = (): void => {
    if (socketWaits && stream.writableLength === 0) goOn();
  };
  const forward = (chunk: Buffer): void => {
    const mayGoOn = stream.write(chunk, streamSent) && chunk.length >= LEAST_AHEAD_BYTES;
    // If the stream buffers nothing, do not pause: the chunk is already sent, or queued in the session.
    if (mayGoOn || stream.writableLength === 0) return;
    socketWaits = true;
    socket.pause();
  };
  socket.on('data', forward);
  const endStream = (): void => confirmEnd(socket, () => stream.end());
  // A connection without data may have ended already, while its stream was being opened.
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

  const socketSent = (): void => {
    if (!streamWaits || socket.writableLength > 0) return;
    streamWaits = false;
    stream.resume();
  };
  stream.on('data', (chunk: Buffer) => {
    if (socket.writableCorked > 0) {
      // The stream has corked the socket for the parts of a message. The stream pauses itself after the last part, if needed.
      socket.write(chunk);
      return;
    }
    // A socket with nothing queued usually sends the chunk within this call. Copy only a chunk that must wait.
    const waiting = socket.writableLength === 0 ? chunk : exactBuffer(chunk);
    const mayGoOn = socket.write(waiting, socketSent) && chunk.length >= LEAST_AHEAD_BYTES;
    if (mayGoOn || socket.writableLength === 0) return;
    streamWaits = true;
    stream.pause();
  });
  stream.on('end', () => socket.end());
  // The `close` event that follows handles the error.
  stream.on('error', () => undefined);
  stream.on('close', () => {
    if (socket.destroyed) return;
    if (!stream.readableEnded) {
      socket.resetAndDestroy();
      return;
    }
    linger = setTimeout(() => socket.resetAndDestroy(), UNREAD_MS);
    // The socket closes by itself once its last bytes are sent.
    if (socket.readableEnded) return;
    socket.off('data', forward);
    goOn();
    const begin = (): void => {
      clearTimeout(linger);
      linger = setTimeout(() => socket.destroy(), lingerMs);
    };
    if (socket.writableFinished) begin();
    else socket.once('finish', begin);
  });
  watch?.(socket, () => !socketWaits);
  watch?.(stream, () => !streamWaits);
}

/**
 * Detects a reset of a socket that is paused, or that has delivered all its data. The system reports such a reset only
 * when this side writes. The check is therefore an empty write, which sends nothing. After a reset, this write fails, and
 * `error` and `close` follow. A socket with a pending write needs no check, because a reset makes that write fail.
 */
function noticeReset(socket: Socket): void {
  const isRead = !socket.isPaused() && !socket.readableEnded;
  if (!isRead && !socket.writableEnded && socket.writableLength === 0) socket.write(NOTHING);
}

/**
 * Calls `then` unless a reset ended the socket's data. If a reset arrives with the last bytes, libuv reports a normal end
 * (`uv__stream_io`, POLLHUP after a partial read). An empty write detects this: after a reset it fails, and `error` and
 * `close` follow. A socket that this side has ended cannot be checked.
 */
function confirmEnd(socket: Socket, then: () => void): void {
  if (socket.writableEnded) then();
  else if (socket.writableLength === 0)
    socket.write(NOTHING, (error) => {
      if (!error) then();
    });
  // Do not wait until the pending write has succeeded, because that may take long. After a reset, the write fails within
  // this event-loop turn, and its failure destroys the socket. Therefore check the socket when this turn has ended.
  // A socket that was destroyed after it sent everything was not reset.
  else
    setImmediate(() => {
      if (!socket.destroyed || socket.writableFinished) then();
    });
}

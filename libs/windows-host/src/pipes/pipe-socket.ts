import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { libuv } from '../win32/calls/libuv.js';
import type { OwnedHandle } from '../win32/calls/owned-handle.js';

/**
 * Makes a socket of one end of a pipe that was opened for overlapped operations. The handle is the socket's from here on, whatever
 * the outcome, and closed exactly once.
 *
 * @throws Error with Node's code: `EMFILE` when this process has no descriptor left, others when the peer has gone.
 */
export function socketOfPipe(pipe: OwnedHandle): Socket {
  let descriptor: number;
  try {
    descriptor = libuv().uv_open_osfhandle(pipe.value);
  } catch (error) {
    pipe.close();
    throw error;
  }
  if (descriptor < 0) {
    pipe.close();
    throw Object.assign(new Error('made a socket of a pipe: no file descriptor is left'), {
      code: 'EMFILE',
    });
  }
  // The descriptor closes the handle now, and the socket the descriptor.
  pipe.release();
  try {
    return new Socket({ fd: descriptor, readable: true, writable: true });
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

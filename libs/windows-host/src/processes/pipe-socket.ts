import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { OwnedHandle } from '../win32/calls/call.js';
import { systemLibrary } from '../win32/calls/system-library.js';

/** This program itself exports the function, so Windows searches for no library. */
const libuv = systemLibrary(process.execPath, 'Windows', [
  // https://docs.libuv.org/en/v1.x/fs.html#c.uv_open_osfhandle
  'int uv_open_osfhandle(intptr_t handle)',
]);

/**
 * Creates a socket from a pipe end that was opened for overlapped operations. Always takes ownership of the handle.
 *
 * @throws Error with Node's code: `EMFILE` if no descriptor is left, another code if the peer has gone.
 */
export function socketOfPipe(pipe: OwnedHandle, writable = true): Socket {
  using closing = pipe;
  // Returns -1 when no descriptor is available; otherwise the descriptor owns the handle.
  const descriptor = libuv.uv_open_osfhandle(pipe.value);
  if (descriptor < 0) {
    const message = 'cannot make a socket of a pipe: no file descriptor is left';
    throw Object.assign(new Error(message), { code: 'EMFILE' });
  }
  closing.release();
  try {
    return new Socket({ fd: descriptor, readable: true, writable });
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

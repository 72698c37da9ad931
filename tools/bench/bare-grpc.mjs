// A floor (a plainer program to compare with wins): grpc-js on a Unix socket or a named pipe.
//   node bare-grpc.mjs serve ENDPOINT [ours]    serves until killed; prints "ready". With `ours`, over @wins/http2-connection instead of node:http2
//   node bare-grpc.mjs stream ENDPOINT BYTES [WINDOW]    receives BYTES in 64 KiB messages, with flow control windows of WINDOW bytes
//   node bare-grpc.mjs output ENDPOINT BYTES WINDOW PROGRAM...    prints the output of PROGRAM, which the server runs with BYTES as the last argument
import grpc from '@grpc/grpc-js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

const MESSAGE_BYTES = 64 * 1024;

const identity = (bytes) => bytes;
const method = (name, responseStream) => ({
  path: `/bare.Bare/${name}`,
  requestStream: false,
  responseStream,
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity,
});
const definition = {
  stream: method('Stream', true),
  output: method('Output', true),
  echo: method('Echo', false),
};

export const BareClient = grpc.makeGenericClientConstructor(definition, 'Bare');

export function bareClient(socket, options) {
  return new BareClient(`unix:${socket}`, grpc.credentials.createInsecure(), options);
}

async function serve(socket, implementation) {
  const server = new grpc.Server({ 'grpc.enable_channelz': 0 });
  const message = Buffer.alloc(MESSAGE_BYTES, 'x');
  server.addService(definition, {
    echo: (call, respond) => respond(null, call.request),
    stream: (call) => {
      let left = Number(call.request.toString());
      const pump = () => {
        while (left > 0) {
          left -= MESSAGE_BYTES;
          if (!call.write(message)) return void call.once('drain', pump);
        }
        call.end();
      };
      pump();
    },
    output: (call) => {
      const [program, ...args] = JSON.parse(call.request.toString());
      spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] }).stdout.pipe(call);
    },
  });
  // Listens with node:net, because grpc-js mistakes a named pipe for a relative path.
  const take = implementation === 'ours' ? await takeOurselves(server) : takeByNode(server);
  const listening = createServer(take);
  await once(listening.listen(socket), 'listening');
  console.log('ready');
}

function takeByNode(server) {
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  return (connection) => injector.injectConnection(connection);
}

/** Like the daemon (apps/wins-server/src/kernel/rpc/call-server.ts). */
async function takeOurselves(server) {
  const { SegmentPool, serveHttp2Connection } = await import('@wins/http2-connection');
  const options = {
    peer: { remoteAddress: 'bench', remotePort: 1 },
    segments: new SegmentPool(),
    onStream: (call, headers) => server._streamHandler([], call, headers),
  };
  return (connection) => serveHttp2Connection(connection, options);
}

function stream(socket, bytes, window) {
  const options = window === undefined ? {} : { 'grpc-node.flow_control_window': Number(window) };
  const client = bareClient(socket, options);
  let received = 0;
  client
    .stream(Buffer.from(String(bytes)))
    .on('data', (chunk) => {
      received += chunk.length;
    })
    .on('end', () => {
      if (received < bytes) throw new Error(`received ${received} of ${bytes} bytes`);
      client.close();
    });
}

function output(socket, bytes, window, program) {
  const client = bareClient(socket, { 'grpc-node.flow_control_window': Number(window) });
  let received = 0;
  client
    .output(Buffer.from(JSON.stringify([...program, String(bytes)])))
    .on('data', (chunk) => {
      received += chunk.length;
    })
    .on('end', () => {
      if (received < bytes) throw new Error(`received ${received} of ${bytes} bytes`);
      client.close();
    })
    .pipe(process.stdout);
}

const [command, socket, bytes, window, ...program] = process.argv.slice(2);
if (command === 'serve') await serve(socket, bytes);
if (command === 'stream') stream(socket, Number(bytes), window);
if (command === 'output') output(socket, Number(bytes), window, program);

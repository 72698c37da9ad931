// Benchmarks of the daemon's pipe. The floors are plainer programs for comparison: grpc-js and sockets on the same kind of endpoint, and TCP
// sockets.
//
// The target for output is relative to the floor `grpc-js, default windows`. Its flow-control windows have the default size. Therefore the sender
// waits for the reader after each 64 KiB. In this floor and in `grpc-js, large windows`, the server sends messages from memory, and the client
// discards them. In the other output floors, a program writes the data, and the client prints it, as with `wins`.
import { once } from 'node:events';
import path from 'node:path';
import { bareClient } from './bare-grpc.mjs';
import { processorMs } from './costs.mjs';
import { echoConnection } from './bare-sockets.mjs';
import { medianCall } from './measure.mjs';

export const bareGrpc = path.join(import.meta.dirname, 'bare-grpc.mjs');
export const bareSockets = path.join(import.meta.dirname, 'bare-sockets.mjs');

const LARGE_WINDOW_BYTES = 4 * 1024 * 1024;
const INFO_BYTES = 48;

const OUTPUT = 'output of prc run';
const INFO = 'Info, median';
const HTTP2 = 'HTTP/2, processor time of the server per MiB';

export const grpcRows = (where = '') => [OUTPUT + where, INFO + where];
export const http2Rows = [HTTP2];

/** Compares `@wins/http2-connection` with node:http2: both serve grpc-js, which sends messages of 64 KiB from memory. */
export async function measureHttp2({ run, programs, folder, floor }) {
  const endpoint = path.join(folder, 'ours.sock');
  const isReady = (line) => line === 'ready';
  const ours = await programs.start([bareGrpc, 'serve', endpoint, 'ours'], isReady);
  const way = ({ pid, endpoint }) => ({
    work: async (share) => {
      const mebibytes = Math.round(512 * share);
      const before = processorMs(pid);
      const words = [bareGrpc, 'stream', endpoint, mebibytes * 2 ** 20, LARGE_WINDOW_BYTES];
      const ms = await programs.time(words.map(String));
      return { units: mebibytes, ms, value: (processorMs(pid) - before) / mebibytes };
    },
  });
  await run.measure(
    { name: HTTP2, unit: 'ms', figure: { is: 'ratio', atMost: 1.25 } },
    { 'node:http2': way(floor), wins: way({ pid: ours.child.pid, endpoint }) },
  );
}

/**
 * Measures how fast output arrives. Subtracts a run with a sixteenth of the bytes, so that the client's start cancels out.
 *
 * @param largeBytes - Bytes of the full run.
 * @param writer - A program that writes as many bytes as its last argument says.
 * @param floors - The servers to compare the daemon with. `grpc` has one `endpoint`. `sockets`, which is optional, has `endpoints` by name. On
 * Linux, each also has the `pid` of its server.
 */
export async function measureOutput(options) {
  const { run, programs, wins, daemon, server, writer, floors } = options;
  const { largeBytes = 1024 * 1024 * 1024, where = '' } = options;
  const way = (servedBy, argsFor) => {
    const take = (part) => async (share) => {
      const bytes = Math.round(largeBytes * part * share);
      return { units: bytes / 1e9, ms: await programs.time(argsFor(bytes)) };
    };
    return { client: programs, daemon: servedBy, work: take(1), less: take(1 / 16) };
  };
  const { grpc, sockets } = floors;
  const stream = (...window) =>
    way(grpc.pid, (bytes) => [bareGrpc, 'stream', grpc.endpoint, String(bytes), ...window]);
  const ways = {
    'grpc-js, default windows': stream(),
    'grpc-js, large windows': stream(String(LARGE_WINDOW_BYTES)),
    "grpc-js, a program's output": way(grpc.pid, (bytes) => [
      bareGrpc,
      'output',
      grpc.endpoint,
      String(bytes),
      String(LARGE_WINDOW_BYTES),
      writer.path,
      ...writer.args,
    ]),
  };
  for (const [name, endpoint] of Object.entries(sockets?.endpoints ?? {}))
    ways[name] = way(sockets.pid, (bytes) => [bareSockets, 'output', endpoint, String(bytes)]);
  const words = [wins, 'cli', 'prc', 'run', '--server', server, '--path', writer.path, '--args'];
  ways.wins = way(daemon, (bytes) => [...words, [...writer.args, bytes].join(' ')]);
  await run.measure(
    { name: OUTPUT + where, unit: 'MB/s', per: 'GB', figure: { is: 'ratio', atLeast: 0.85 } },
    ways,
    ({ units, ms }) => (units * 1e6) / ms,
  );
}

/** Measures the duration of a call from this process. `client` calls the daemon. */
export async function measureInfo({ run, client, daemon, floors, where = '' }) {
  const { grpc, sockets } = floors;
  const echo = bareClient(grpc.endpoint);
  const body = Buffer.alloc(INFO_BYTES);
  const ask = () =>
    new Promise((resolve, reject) =>
      echo.echo(body, (error) => (error ? reject(error) : resolve(undefined))),
    );
  const way = (servedBy, call) => ({
    client: process.pid,
    daemon: servedBy,
    work: medianCall(call),
  });
  const ways = { 'grpc-js': way(grpc.pid, ask) };
  const connections = [];
  for (const [name, endpoint] of Object.entries(sockets?.endpoints ?? {})) {
    const connection = await echoConnection(endpoint);
    connections.push(connection);
    ways[name] = way(sockets.pid, async () => {
      connection.write(body);
      await once(connection, 'data');
    });
  }
  ways.wins = way(daemon, () => client.info());
  const figure = { is: 'ratio', atMost: 1.25 };
  await run.measure({ name: INFO + where, unit: 'ms', per: 'call', figure }, ways);
  for (const connection of connections) connection.destroy();
  echo.close();
}

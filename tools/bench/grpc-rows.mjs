// The rows of the daemon's pipe: the built programs against grpc-js and nothing else, on the same kind of endpoint.
import path from 'node:path';
import { bareClient } from './bare-grpc.mjs';
import { p50, pairs } from './measure.mjs';

export const bare = path.join(import.meta.dirname, 'bare-grpc.mjs');

/** How fast output arrives. `writer` is a program that writes as many bytes as its last argument says. */
export async function measureOutput(options) {
  const {
    programs,
    wins,
    bareEndpoint,
    writer,
    report,
    server = 'rancher_wins',
    where = '',
    count = 7,
  } = options;
  const run = [wins, 'cli', 'prc', 'run', '--server', server, '--path', writer.path, '--args'];
  const logs = await pairs(
    count,
    () => programs.throughput((bytes) => [bare, 'stream', bareEndpoint, String(bytes)]),
    () => programs.throughput((bytes) => [...run, [...writer.args, bytes].join(' ')]),
  );
  const { ratio } = logs;
  report(
    `output of prc run${where}`,
    'MB/s',
    logs,
    ratio.toFixed(2),
    'at least 0.85',
    ratio >= 0.85,
  );
}

/** How long a call takes. `client` is one of the daemon. */
export async function measureInfo({ client, bareEndpoint, report, where = '', count = 7 }) {
  const echo = bareClient(bareEndpoint);
  const body = Buffer.alloc(48);
  const ask = () =>
    new Promise((resolve, reject) =>
      echo.echo(body, (error) => (error ? reject(error) : resolve())),
    );
  const unary = await pairs(
    count,
    () => p50(ask),
    () => p50(() => client.info()),
  );
  echo.close();
  const { ratio } = unary;
  report(`Info, median${where}`, 'ms', unary, ratio.toFixed(2), 'at most 1.25', ratio <= 1.25);
}

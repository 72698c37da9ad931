// The rows of the tunnel: the built daemon and client against a plain TCP relay (`a.pipe(b).pipe(a)`), by the same load.
import { once } from 'node:events';
import {
  connectionsPerSecond,
  download,
  echoes,
  flood,
  MEGABYTE,
  quantile,
  rate,
  startProgram,
  upload,
} from '../../libs/tcp-tunnel/bench/load.mjs';

const PAIRS = 5;
const BYTES = 500 * MEGABYTE;
const TRIPS = 3000;
const STALLED = 100;
/** Until back pressure has stopped every writer. */
const STALL_MS = 3000;

async function median64ByteEcho(port) {
  return quantile(await echoes(port, TRIPS), 0.5) / 1000;
}

async function p99EchoUnderBulk(port) {
  const bulk = await startProgram('reader', port);
  const p99 = quantile(await echoes(port, TRIPS), 0.99) / 1000;
  bulk.child.kill();
  await once(bulk.child, 'exit');
  return p99;
}

/** Measures and reports every row. `ways` are the ports of relay and tunnel to the same target, `programs` their processes. */
export async function measureTunnel({ ways, programs, residentMegabytes, pairs, report }) {
  const largest = (way) => Math.max(...programs[way].map(residentMegabytes));
  const compare = (count, measure) =>
    pairs(
      count,
      () => measure(ways.relay),
      () => measure(ways.tunnel),
    );
  const transfer = (streams, way) => (port) => rate(BYTES, streams, port, way);
  for (const port of Object.values(ways)) await transfer(1, download)(port);

  const ratios = [
    [
      'tunnel, 1 stream down',
      'MB/s',
      transfer(1, download),
      (ratio) => ratio >= 0.4,
      'at least 0.40',
    ],
    ['tunnel, 1 stream up', 'MB/s', transfer(1, upload), (ratio) => ratio >= 0.4, 'at least 0.40'],
    [
      'tunnel, 8 streams down',
      'MB/s',
      transfer(8, download),
      (ratio) => ratio >= 0.4,
      'at least 0.40',
    ],
    ['tunnel, 8 streams up', 'MB/s', transfer(8, upload), (ratio) => ratio >= 0.4, 'at least 0.40'],
    ['tunnel, 64 B echo, median', 'ms', median64ByteEcho, (ratio) => ratio <= 2.2, 'at most 2.20'],
    [
      'tunnel, connections',
      'per s',
      connectionsPerSecond,
      (ratio) => ratio >= 0.7,
      'at least 0.70',
    ],
  ];
  for (const [what, unit, measure, isGood, target] of ratios) {
    const result = await compare(PAIRS, measure);
    report(what, unit, result, result.ratio.toFixed(2), target, isGood(result.ratio));
  }

  const echo = await compare(3, p99EchoUnderBulk);
  const p99 = `${echo.subject.toFixed(2)} ms`;
  report('tunnel, echo under bulk, p99', 'ms', echo, p99, 'at most 10 ms', echo.subject <= 10);

  const growth = {};
  for (const [way, port] of Object.entries(ways)) {
    const before = largest(way);
    const stalled = Array.from({ length: STALLED }, () => flood(port));
    await new Promise((resolve) => setTimeout(resolve, STALL_MS));
    growth[way] = largest(way) - before;
    for (const socket of stalled) socket.destroy();
  }
  report(
    'tunnel, 100 stalled readers',
    'MiB',
    { floor: growth.relay, subject: growth.tunnel },
    `+${growth.tunnel.toFixed(0)} MiB`,
    'at most +64 MiB',
    growth.tunnel <= 64,
  );
}

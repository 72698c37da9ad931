// Benchmarks of the tunnel. Its floors (plainer programs under the same load) are relays, most of them `a.pipe(b).pipe(a)`.
// Each ratio compares the tunnel with two relays in series. A tunnel also consists of two programs. In addition, it has its
// own protocol. Floors of Go show what the original's language and libraries cost at least.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import {
  connectionsPerSecond,
  connectionTimes,
  download,
  echoes,
  flood,
  MEGABYTE,
  quantile,
  rate,
  startProgram,
  upload,
} from './load.mjs';
import { mapValues, MEASURED, residentMebibytes } from './costs.mjs';
import { freePort } from '../free-port.mjs';
import { buildGo, hasGo } from '../go.mjs';

const BYTES = 500 * MEGABYTE;
const TRIPS = 3000;
const CONNECTIONS = 3000;
/** Until about 20 connections and 20,000 echoes have passed, threads of V8 compile the code of a tunnel or relay, and delay some echoes. */
const ECHO_WARM_UPS = 80;
const STALLED = 100;
/** Waiting time in ms, long enough for back pressure to stop all writers. */
const STALL_MS = 3000;

const speed = { unit: 'MB/s', per: 'GB', figure: { is: 'ratio', atLeast: 0.8 } };
const ECHO = 'tunnel, 64 B echo';
const CONNECTS = 'tunnel, connections';
const OPEN_AND_CLOSE = 'tunnel, 16 connections at once';
const BESIDE_BULK = 'tunnel, echo under bulk, p99';
const ONE_SOCKET = 'two relays, one Unix socket for all streams';
const GO_RELAYS = 'two relays of Go, Unix socket';
const GO_WEB_SOCKET = 'two programs of Go, one WebSocket';
/** One slow reader would stop all streams of these. */
const SHARED = [ONE_SOCKET, GO_WEB_SOCKET];
const STALLS = 'tunnel, 100 stalled readers';
const connects = { unit: 'per s', per: 'connection', figure: { is: 'ratio', atLeast: 0.8 } };

const moves = (streams, way) => async (port, share) => {
  const bytes = BYTES * share;
  return { units: bytes / 1e9, value: await rate(bytes, streams, port, way) };
};
const echo64 = (q) => async (port, share) => {
  const units = Math.ceil(TRIPS * share);
  return { units, value: quantile(await echoes(port, units), q) / 1000 };
};
async function opens(port, share) {
  const units = Math.ceil(CONNECTIONS * share);
  return { units, value: await connectionsPerSecond(port, units) };
}
const opensAndCloses = (valueOf) => async (port, share) => {
  const units = Math.ceil(CONNECTIONS * share);
  return { units, value: valueOf(await connectionTimes(port, units)) };
};
async function echoBesideBulk(port, share) {
  const bulk = await startProgram('reader', { to: port });
  const p99 = quantile(await echoes(port, Math.ceil(TRIPS * share)), 0.99) / 1000;
  bulk.child.kill();
  await once(bulk.child, 'exit');
  return { value: p99 };
}

/** @type {[{ name: string, unit: string, per?: string, streams?: number, warmUps?: number, figure: object }, (port: number, share: number) => Promise<object>][]} */
const ROWS = [
  [{ name: 'tunnel, 1 stream down', streams: 1, ...speed }, moves(1, download)],
  [{ name: 'tunnel, 1 stream up', streams: 1, ...speed }, moves(1, upload)],
  [{ name: 'tunnel, 8 streams down', streams: 8, ...speed }, moves(8, download)],
  [{ name: 'tunnel, 8 streams up', streams: 8, ...speed }, moves(8, upload)],
  [
    {
      name: `${ECHO}, median`,
      unit: 'ms',
      per: 'echo',
      warmUps: ECHO_WARM_UPS,
      figure: { is: 'ratio', atMost: 1.25 },
    },
    echo64(0.5),
  ],
  [
    { name: `${ECHO}, p99`, unit: 'ms', warmUps: ECHO_WARM_UPS, figure: { is: 'ratio' } },
    echo64(0.99),
  ],
  [{ name: CONNECTS, ...connects }, opens],
  [
    {
      name: `${OPEN_AND_CLOSE}, median`,
      unit: 'ms',
      per: 'connection',
      figure: { is: 'ratio', atMost: 1.25 },
    },
    opensAndCloses(({ times }) => quantile(times, 0.5)),
  ],
  [{ name: `${OPEN_AND_CLOSE}, rate`, ...connects }, opensAndCloses(({ rate }) => rate)],
  [{ name: BESIDE_BULK, unit: 'ms', figure: { is: 'value', atMost: 10 } }, echoBesideBulk],
];

export const tunnelRows = [...ROWS.map(([{ name }]) => name), STALLS];

export async function measureTunnel({ run, programs, wins, folder }) {
  const ways = await startWays({ programs, wins, folder });
  for (const [row, work] of ROWS) {
    // The costs of an echo cannot be separated from those of a bulk stream beside it.
    const costs = ({ client, daemon }) => (row.per === undefined ? {} : { client, daemon });
    const measured =
      row.per === 'GB'
        ? sharedFirstIf(row.streams === 8, ways)
        : without(row.name === BESIDE_BULK ? SHARED : [ONE_SOCKET], ways);
    await run.measure(
      row,
      mapValues(measured, (way) => ({
        ...costs(way),
        isNode: way.isNode,
        work: (share) => work(way.port, share),
      })),
    );
  }
  if (!run.wants(STALLS)) return;
  const grown = {};
  for (const [name, way] of Object.entries(without(SHARED, ways)))
    grown[name] = await growthByStalled(way);
  run.addOnce({ name: STALLS, unit: 'MiB', figure: { is: 'value', atMost: 64 } }, grown);
}

/**
 * If `isFirst`, puts the relays that share one socket first. The first way is the floor, with which wins is compared. For several streams this floor
 * is fair, because the tunnel also has only one connection for all of them.
 */
function sharedFirstIf(isFirst, ways) {
  return isFirst ? { [ONE_SOCKET]: ways[ONE_SOCKET], ...ways } : ways;
}

function without(names, ways) {
  return Object.fromEntries(Object.entries(ways).filter(([name]) => !names.includes(name)));
}

/**
 * Returns how much the memory of a relay or tunnel grows because of stalled readers, in MiB. Each measurement counts only the program that uses
 * the most memory.
 *
 * @param {{ port: number, client?: number, daemon?: number }} way
 */
async function growthByStalled({ port, client, daemon }) {
  const pids = [client, daemon].filter((pid) => pid !== undefined);
  const largest = () => Math.max(...pids.map(residentMebibytes));
  const before = largest();
  const stalled = Array.from({ length: STALLED }, () => flood(port));
  await pause(STALL_MS);
  const growth = largest() - before;
  for (const socket of stalled) socket.destroy();
  return growth;
}

async function startWays({ programs, wins, folder }) {
  const start = async (role, ends) => {
    const { child, port } = await startProgram(role, { ...ends, execArgv: MEASURED });
    programs.own(child);
    return { pid: child.pid, port };
  };
  const target = await start('target');
  const oneRelay = async (to) => {
    const { pid, port } = await start('relay', { to });
    return { port, client: pid };
  };
  const twoRelays = async (middle, role = 'relay') => {
    const far = await start(role, { from: middle, to: target.port });
    const near = await start(role, { to: far.port });
    return { port: near.port, client: near.pid, daemon: far.pid };
  };
  return {
    'two relays, Unix socket': await twoRelays(path.join(folder, 'relay.sock')),
    'two relays, TCP': await twoRelays(0),
    [ONE_SOCKET]: await twoRelays(path.join(folder, 'shared.sock'), 'shared-relay'),
    'one relay, TCP': await oneRelay(target.port),
    ...(await startGo({ programs, folder, target: target.port })),
    wins: await startTunnel({ programs, wins, folder, target: target.port }),
  };
}

/** Starts the floors of Go, if Go and its WebSocket library are there. */
async function startGo({ programs, folder, target }) {
  if (!hasGo(['github.com/gorilla/websocket'])) {
    process.stderr.write(
      'not measured: floors of Go (Debian: apt-get install golang-go golang-github-gorilla-websocket-dev)\n',
    );
    return {};
  }
  const program = path.join(folder, 'go');
  const cache = path.join(import.meta.dirname, '../../node_modules/.cache/wins-bench-go');
  buildGo(path.join(import.meta.dirname, 'go'), { output: program, cache });
  const start = async (...args) => {
    const child = spawn(program, args.map(String), { stdio: ['ignore', 'pipe', 'inherit'] });
    programs.own(child);
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    return { pid: child.pid, port: Number(line) };
  };
  const pair = async (nearRole, farRole, socket) => {
    const far = await start(farRole, socket, target);
    const near = await start(nearRole, 0, socket);
    return { port: near.port, client: near.pid, daemon: far.pid, isNode: false };
  };
  return {
    [GO_RELAYS]: await pair('relay', 'relay', path.join(folder, 'go.sock')),
    [GO_WEB_SOCKET]: await pair('near', 'far', path.join(folder, 'go-web.sock')),
  };
}

/** The daemon logs to a file, so that its log does not burden this process. */
async function startTunnel({ programs, wins, folder, target }) {
  const config = path.join(folder, 'tunnel');
  const names = { listen: 'tunnelled', proxy: 'tunnelled_proxy' };
  writeFileSync(config, JSON.stringify({ ...names, white_list: { proxyPorts: [target] } }));
  chmodSync(config, 0o600);
  const daemon = spawn(
    process.execPath,
    [...MEASURED, wins, 'srv', 'app', 'run', '--config', config],
    {
      env: programs.environment,
      stdio: ['ignore', 'ignore', openSync(path.join(folder, 'log'), 'w')],
    },
  );
  programs.own(daemon);
  const port = await freePort();
  const publish = ['--publish', `TCP:${port}:${target}`];
  const { child } = await programs.start(
    [wins, 'cli', 'proxy', ...publish, '--proxy', names.proxy, '--wait-timeout', '60s'],
    (line) => line.includes('the tunnel is ready'),
  );
  return { port, client: child.pid, daemon: daemon.pid };
}

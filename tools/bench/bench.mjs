// npm run bench: what wins costs, each figure as a ratio against a bare floor in the same run.
// Floor and subject alternate, and the median of the pairs counts: machines drift, ratios hold.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { bareClient } from './bare-grpc.mjs';
import { startProgram } from '../../libs/tcp-tunnel/bench/load.mjs';
import { measureTunnel } from './tunnel-rows.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const nx = createRequire(import.meta.url).resolve('nx/bin/nx.js');
const wins = path.join(root, 'dist', 'wins.cjs');
const bare = path.join(import.meta.dirname, 'bare-grpc.mjs');

const PAIRS = 7;
const START_PAIRS = 15;
const SMALL_BYTES = 64 * 1024 * 1024;
const LARGE_BYTES = 1024 * 1024 * 1024;
const CALLS = 2000;

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const now = () => performance.now();

execFileSync(process.execPath, [nx, 'run-many', '-t', 'build'], {
  cwd: root,
  stdio: ['ignore', 'ignore', 'inherit'],
});
const { createWinsClient } = await import('@wins/wins-api');

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-bench-')));
const environment = { ...process.env, WINS_RUNTIME_DIR: path.join(folder, 'run') };
const running = [];

async function startServer(args, isReady) {
  const child = spawn(process.execPath, args, {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => child.emit('line', line));
  }
  for (;;) {
    const [line] = await once(child, 'line');
    if (isReady(line)) return { child, line };
  }
}

/** Wall time in ms of a command whose output nobody keeps. */
async function timed(args) {
  const start = now();
  const child = spawn(process.execPath, args, {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return now() - start;
}

/** MB/s of what one size takes longer than the other: start-up cancels out. */
async function throughput(argsFor) {
  const small = await timed(argsFor(SMALL_BYTES));
  const large = await timed(argsFor(LARGE_BYTES));
  return (LARGE_BYTES - SMALL_BYTES) / 1e3 / (large - small);
}

/** A target, and two ways to it: a relay, and the tunnel of a daemon whose log goes to a file, not through this process. */
async function startTunnel() {
  const target = await startProgram('target');
  const relay = await startProgram('relay', target.port);
  const config = path.join(folder, 'tunnel');
  const names = { listen: 'tunnelled', proxy: 'tunnelled_proxy' };
  writeFileSync(config, JSON.stringify({ ...names, white_list: { proxyPorts: [target.port] } }));
  chmodSync(config, 0o600);
  const daemon = spawn(process.execPath, [wins, 'srv', 'app', 'run', '--config', config], {
    env: environment,
    stdio: ['ignore', 'ignore', openSync(path.join(folder, 'log'), 'w')],
  });
  running.push(target.child, relay.child, daemon);
  const published = await freePort();
  const publish = ['--publish', `TCP:${published}:${target.port}`];
  const client = await startServer(
    [wins, 'cli', 'proxy', ...publish, '--proxy', names.proxy, '--wait-timeout', '60s'],
    (line) => line.includes('the tunnel is ready'),
  );
  return {
    ways: { relay: relay.port, tunnel: published },
    programs: { relay: [relay.child], tunnel: [daemon, client.child] },
  };
}

async function freePort() {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  await once(server.close(), 'close');
  return port;
}

async function p50(call) {
  for (let index = 0; index < 200; index += 1) await call();
  const times = [];
  for (let index = 0; index < CALLS; index += 1) {
    const start = now();
    await call();
    times.push(now() - start);
  }
  return median(times);
}

async function pairs(count, floor, subject) {
  const results = [];
  for (let index = 0; index < count; index += 1) {
    results.push({ floor: await floor(), subject: await subject() });
  }
  return {
    floor: median(results.map((pair) => pair.floor)),
    subject: median(results.map((pair) => pair.subject)),
    ratio: median(results.map((pair) => pair.subject / pair.floor)),
    difference: median(results.map((pair) => pair.subject - pair.floor)),
  };
}

function residentMegabytes({ pid }) {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) / 1024;
}

const rows = [];
function report(what, unit, { floor, subject }, figure, target, good) {
  rows.push({
    what,
    floor: `${floor.toFixed(unit === 'ms' ? 2 : 0)} ${unit}`,
    wins: `${subject.toFixed(unit === 'ms' ? 2 : 0)} ${unit}`,
    figure,
    target,
    verdict: good ? 'met' : 'MISSED',
  });
}

try {
  const writer = path.join(folder, 'writer');
  writeFileSync(writer, '#!/bin/sh\nexec head -c "$1" /dev/zero\n');
  chmodSync(writer, 0o755);
  const config = path.join(folder, 'config');
  writeFileSync(config, JSON.stringify({ white_list: { processPaths: [writer] } }));
  chmodSync(config, 0o600);

  const socket = path.join(folder, 'bare.sock');
  const bareServer = await startServer([bare, 'serve', socket], (line) => line === 'ready');
  const daemon = await startServer([wins, 'srv', 'app', 'run', '--config', config], (line) =>
    line.includes('"msg":"ready"'),
  );
  const { address } = JSON.parse(daemon.line);

  const memory = {
    floor: residentMegabytes(bareServer.child),
    subject: residentMegabytes(daemon.child),
  };
  const growth = memory.subject - memory.floor;
  report('idle memory', 'MB', memory, `+${growth.toFixed(1)} MB`, 'at most +25 MB', growth <= 25);

  const logs = await pairs(
    PAIRS,
    () => throughput((bytes) => [bare, 'stream', socket, String(bytes)]),
    () =>
      throughput((bytes) => [wins, 'cli', 'prc', 'run', '--path', writer, '--args', String(bytes)]),
  );
  report(
    'output of prc run',
    'MB/s',
    logs,
    logs.ratio.toFixed(2),
    'at least 0.85',
    logs.ratio >= 0.85,
  );

  const echo = bareClient(socket);
  const client = createWinsClient({ address });
  const body = Buffer.alloc(48);
  const unary = await pairs(
    PAIRS,
    () =>
      p50(
        () =>
          new Promise((resolve, reject) =>
            echo.echo(body, (error) => (error ? reject(error) : resolve())),
          ),
      ),
    () => p50(() => client.info()),
  );
  echo.close();
  client.close();
  report('Info, median', 'ms', unary, unary.ratio.toFixed(2), 'at most 1.25', unary.ratio <= 1.25);

  const start = await pairs(
    START_PAIRS,
    () => timed(['-e', '0']),
    () => timed([wins, 'cli', 'app', 'info']),
  );
  const extra = start.difference;
  report('cli app info', 'ms', start, `+${extra.toFixed(1)} ms`, 'at most +60 ms', extra <= 60);

  const tunnel = await startTunnel();
  await measureTunnel({ ...tunnel, residentMegabytes, pairs, report });
} finally {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
console.table(rows);

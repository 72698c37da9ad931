// npm run bench: measures the costs of `wins`. For comparison, the same benchmark also measures plainer programs, called floors.
// docs/performance.md explains the figures.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { missingForWine } from '../windows/wine-root.mjs';
import { agentRows, measureAgent } from './agent-rows.mjs';
import { readOptions, USAGE, UsageError } from './bench-options.mjs';
import { executableRows, measureExecutables, wineExecutableRows } from './executable-rows.mjs';
import {
  bareGrpc,
  bareSockets,
  grpcRows,
  http2Rows,
  measureHttp2,
  measureInfo,
  measureOutput,
} from './grpc-rows.mjs';
// This program is a measured client too, so it needs heap-report.cjs.
import './heap-report.cjs';
import { detachedRows, measureDetached } from './detached-rows.mjs';
import { Programs, Run } from './measure.mjs';
import { measureMetrics, metricsRows } from './metrics-rows.mjs';
import { reportOf } from './report.mjs';
import { measureNetwork, networkRows } from './network-rows.mjs';
import { measureRequests, requestRows } from './request-rows.mjs';
import { measureMemory, measureStarts, startRows } from './start-rows.mjs';
import { measureTunnel, tunnelRows } from './tunnel-rows.mjs';
import { measureUdp, udpRows } from './udp-rows.mjs';
import { measureWindows, windowsRows } from './windows-rows.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const nx = createRequire(import.meta.url).resolve('nx/bin/nx.js');
const wins = path.join(root, 'dist', 'wins.cjs');

const hasWine = missingForWine === undefined;
const ofDaemon = [...startRows, ...agentRows, ...grpcRows(), ...http2Rows];
const ofExecutables = [...executableRows, ...(hasWine ? wineExecutableRows : [])];
const ofWindows = hasWine ? windowsRows : [];

const options = optionsOrExit();
const { quick, json, before, wants, rounds } = options;
const run = new Run({ quick, wants, rounds });
const loadBefore = loadavg()[0];

execFileSync(process.execPath, [nx, 'run-many', '-t', 'build'], {
  cwd: root,
  stdio: ['ignore', 'ignore', 'inherit'],
});
const { createWinsClient } = await import('@wins/wins-api');

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-bench-')));
const programs = new Programs({ ...process.env, WINS_RUNTIME_DIR: path.join(folder, 'run') });
const parts = { run, programs, wins, folder };
try {
  await group(ofDaemon, measureDaemon);
  await group(tunnelRows, () => measureTunnel(parts));
  await group(udpRows, () => measureUdp(parts));
  await group(metricsRows, () => measureMetrics(parts));
  await group(detachedRows, () => measureDetached(parts));
  await group(networkRows, () => measureNetwork(parts));
  await group(requestRows, () => measureRequests(parts));
} finally {
  programs.end();
  rmSync(folder, { recursive: true, force: true });
}
await group(ofWindows, () => measureWindows({ run, quick }));
await group(ofExecutables, () => measureExecutables({ run, quick, hasWine }));

const result = {
  node: process.version.slice(1),
  processors: availableParallelism(),
  quick,
  loadBefore,
  loadAfter: loadavg()[0],
  rows: run.rows,
  loaded: run.loaded,
};
if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
(json ? process.stderr : process.stdout).write(`\n${reportOf(result, before)}`);

/** Measures a group if one of its rows was requested. If it fails, the results of other groups, which took minutes, are kept. */
async function group(names, measure) {
  if (!names.some(wants)) return;
  try {
    await measure();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
}

function optionsOrExit() {
  try {
    const found = readOptions(process.argv.slice(2), [
      ...ofDaemon,
      ...tunnelRows,
      ...udpRows,
      ...metricsRows,
      ...detachedRows,
      ...networkRows,
      ...requestRows,
      ...ofWindows,
      ...ofExecutables,
    ]);
    if (!found.help) return found;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function measureDaemon() {
  const writer = path.join(folder, 'writer');
  writeFileSync(writer, '#!/bin/sh\nexec head -c "$1" /dev/zero\n');
  chmodSync(writer, 0o755);
  const config = path.join(folder, 'config');
  const empty = path.join(folder, 'empty');
  writeFileSync(empty, '#!/bin/sh\n');
  chmodSync(empty, 0o755);
  writeFileSync(config, JSON.stringify({ white_list: { processPaths: [writer, empty] } }));
  chmodSync(config, 0o600);

  const endpoint = path.join(folder, 'bare.sock');
  const grpc = await programs.start([bareGrpc, 'serve', endpoint], (line) => line === 'ready');
  const socket = path.join(folder, 'plain.sock');
  const plain = await programs.start([bareSockets, 'serve', socket, writer], (line) =>
    line.startsWith('port '),
  );
  const floors = {
    grpc: { pid: grpc.child.pid, endpoint },
    sockets: {
      pid: plain.child.pid,
      endpoints: { 'plain TCP': plain.line.split(' ')[1], 'plain Unix socket': socket },
    },
  };
  const started = await programs.start([wins, 'srv', 'app', 'run', '--config', config], (line) =>
    line.includes('"msg":"ready"'),
  );
  const daemon = started.child.pid;

  measureMemory({ run, daemon, floor: grpc.child.pid });
  if (agentRows.some(wants)) await measureAgent({ ...parts, floor: daemon });
  const ofPipe = { ...parts, daemon, floors };
  await measureOutput({ ...ofPipe, server: 'rancher_wins', writer: { path: writer, args: [] } });
  if (http2Rows.some(wants)) await measureHttp2({ ...parts, floor: floors.grpc });
  const client = createWinsClient({ address: JSON.parse(started.line).address });
  await measureInfo({ ...ofPipe, client });
  await client.close();
  await measureStarts({ ...parts, daemon, empty, config });
}

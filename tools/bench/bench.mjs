// npm run bench: what wins costs, each figure as a ratio against a bare floor in the same run.
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
import { startProgram } from '../../libs/tcp-tunnel/bench/load.mjs';
import { wine } from '../windows/wine.mjs';
import { measureAgent } from './agent-rows.mjs';
import { executableRows } from './executable-rows.mjs';
import { bare, measureInfo, measureOutput } from './grpc-rows.mjs';
import { pairs, Programs, Report } from './measure.mjs';
import { measureTunnel } from './tunnel-rows.mjs';
import { windowsRows } from './windows-rows.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const nx = createRequire(import.meta.url).resolve('nx/bin/nx.js');
const wins = path.join(root, 'dist', 'wins.cjs');

const START_PAIRS = 15;

execFileSync(process.execPath, [nx, 'run-many', '-t', 'build'], {
  cwd: root,
  stdio: ['ignore', 'ignore', 'inherit'],
});
const { createWinsClient } = await import('@wins/wins-api');

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-bench-')));
const environment = { ...process.env, WINS_RUNTIME_DIR: path.join(folder, 'run') };
const programs = new Programs(environment);
const { rows, add: report } = new Report();

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
  programs.own(target.child, relay.child, daemon);
  const published = await freePort();
  const publish = ['--publish', `TCP:${published}:${target.port}`];
  const client = await programs.start(
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

function residentMegabytes({ pid }) {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) / 1024;
}

try {
  const writer = path.join(folder, 'writer');
  writeFileSync(writer, '#!/bin/sh\nexec head -c "$1" /dev/zero\n');
  chmodSync(writer, 0o755);
  const config = path.join(folder, 'config');
  writeFileSync(config, JSON.stringify({ white_list: { processPaths: [writer] } }));
  chmodSync(config, 0o600);

  const bareEndpoint = path.join(folder, 'bare.sock');
  const bareServer = await programs.start(
    [bare, 'serve', bareEndpoint],
    (line) => line === 'ready',
  );
  const daemon = await programs.start([wins, 'srv', 'app', 'run', '--config', config], (line) =>
    line.includes('"msg":"ready"'),
  );
  const { address } = JSON.parse(daemon.line);

  const memory = {
    floor: residentMegabytes(bareServer.child),
    subject: residentMegabytes(daemon.child),
  };
  const growth = memory.subject - memory.floor;
  report('idle memory', 'MB', memory, `+${growth.toFixed(1)} MB`, 'at most +25 MB', growth <= 25);

  const parts = { residentMegabytes, pairs, report };
  await measureAgent({ programs, wins, folder, floor: daemon.child, ...parts });

  const run = { programs, wins, bareEndpoint, report };
  await measureOutput({ ...run, writer: { path: writer, args: [] } });
  const client = createWinsClient({ address });
  await measureInfo({ ...run, client });
  await client.close();

  for (const [words, most] of [
    ['cli --version', 1.4],
    ['cli app info', 1.6],
  ]) {
    const start = await pairs(
      START_PAIRS,
      () => programs.time(['-e', '0']),
      () => programs.time([wins, ...words.split(' ')]),
    );
    const { ratio } = start;
    report(words, 'ms', start, ratio.toFixed(2), `at most ${most.toFixed(2)}`, ratio <= most);
  }

  const tunnel = await startTunnel();
  await measureTunnel({ ...tunnel, residentMegabytes, pairs, report });
} finally {
  programs.end();
  rmSync(folder, { recursive: true, force: true });
}
if (wine !== undefined) rows.push(...(await windowsRows()));
rows.push(...(await executableRows()));
console.table(rows);

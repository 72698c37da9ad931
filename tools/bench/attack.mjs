// npm run bench:attack: measures the effect of attacks on a built daemon; exits with 1 when a figure misses its target.
//   npm run bench:attack -- A45 A62x8    measures only attack A45, and attack A62 from eight containers at once (x8)
// docs/attacks.yaml explains the attacks by number.
// Runs on Linux. Times need a quiet machine; the first row is a daemon without an attack.
import { execFileSync, spawn } from 'node:child_process';
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
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { portOf } from '../free-port.mjs';
import { ATTACKS, measureAttack } from './attack-rows.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const nx = createRequire(import.meta.url).resolve('nx/bin/nx.js');
const wins = path.join(root, 'dist', 'wins.cjs');

execFileSync(process.execPath, [nx, 'run-many', '-t', 'build'], {
  cwd: root,
  stdio: ['ignore', 'ignore', 'inherit'],
});
const { createWinsClient } = await import('@wins/wins-api');

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-bench-')));
const running = [];
// Server on the port that the daemon's tunnel allows.
const web = createServer((socket) => socket.on('error', () => undefined).resume());
await once(web.listen(0, '127.0.0.1'), 'listening');
const port = portOf(web);

/** Starts a daemon whose log goes to a file; resolves when it is ready. */
async function start(own) {
  const program = path.join(own, 'program');
  writeFileSync(program, '#!/bin/sh\nexec sleep 1000\n');
  chmodSync(program, 0o755);
  const config = path.join(own, 'config');
  const white_list = { processPaths: [program], proxyPorts: [port] };
  writeFileSync(config, JSON.stringify({ reflection: true, white_list }));
  chmodSync(config, 0o600);
  const log = path.join(own, 'log');
  const child = spawn(process.execPath, [wins, 'srv', 'app', 'run', '--config', config], {
    env: { ...process.env, WINS_RUNTIME_DIR: path.join(own, 'run') },
    stdio: ['ignore', 'ignore', openSync(log, 'w')],
  });
  running.push(child);
  for (;;) {
    const line = readFileSync(log, 'utf8')
      .split('\n')
      .find((each) => each.includes('"msg":"ready"'));
    if (line !== undefined) {
      const { address, tunnelAddress } = JSON.parse(line);
      return { child, address, tunnelAddress, port, program };
    }
    if (child.exitCode !== null) throw new Error(readFileSync(log, 'utf8'));
    await pause(20);
  }
}

const wanted = process.argv.slice(2);
const rows = [];
try {
  for (const attack of ATTACKS) {
    const names = [attack[0], `${attack[0]}x${attack[3] ?? 1}`];
    if (wanted.length > 0 && !names.some((name) => wanted.includes(name))) continue;
    const own = path.join(folder, attack[0]);
    rows.push(await measureAttack(attack, own, start, createWinsClient));
  }
} finally {
  for (const child of running) child.kill('SIGKILL');
  web.close();
  rmSync(folder, { recursive: true, force: true });
}
console.table(rows);
if (rows.some(({ verdict }) => verdict !== 'met')) process.exitCode = 1;

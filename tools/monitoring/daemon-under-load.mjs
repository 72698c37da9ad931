// Runs the built daemon with metrics. Clients run programs, get refusals and use a tunnel.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, portOf } from '../free-port.mjs';

/** Leaves the processors to Prometheus. One pass of the load for each of its scrapes is enough. */
const PAUSE_MS = 500;
const WINS = path.resolve(import.meta.dirname, '../../dist/wins.cjs');

/** `metricsPort` is the port to scrape; `close()` ends the daemon and its clients. */
export async function startDaemonUnderLoad() {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-monitoring-'));
  const runtime = { NODE_OPTIONS: undefined, WINS_RUNTIME_DIR: path.join(folder, 'run') };
  const env = { ...process.env, ...runtime };
  const script = (name, source) => {
    const file = path.join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${source}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const wins = (...words) => spawn(process.execPath, [WINS, ...words], { env, stdio: 'pipe' });
  const brief = script('brief', 'echo out; echo err >&2; exit "${1:-0}"');
  const lasting = script('lasting', 'echo up; while :; do sleep 0.01; done');
  const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const [metricsPort, entrance] = [await freePort(), await freePort()];
  const config = path.join(folder, 'config');
  writeFileSync(
    config,
    JSON.stringify({
      white_list: {
        processPaths: [{ path: brief }, { path: lasting }],
        proxyPorts: [portOf(echo)],
      },
      keep: [{ path: lasting, name: 'kept' }],
      metrics: { listen: `127.0.0.1:${metricsPort}` },
    }),
    { mode: 0o600 },
  );
  const stays = [];
  const startAndAwait = async (wanted, ...words) => {
    const child = wins(...words);
    stays.push(child);
    child.stdout.resume();
    await saying(child.stderr, wanted);
  };
  const toEnd = async (...words) => {
    const child = wins(...words);
    child.stdout.resume();
    child.stderr.resume();
    await once(child, 'close');
  };
  let isClosing = false;
  let load = Promise.resolve();
  const close = async () => {
    isClosing = true;
    await load;
    // It would outlive the daemon.
    await toEnd('cli', 'prc', 'rm', 'keep:kept');
    for (const child of stays.reverse()) {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    echo.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await startAndAwait('"msg":"ready"', 'srv', 'app', 'run', '--config', config);
    const publish = `TCP:${entrance}:${portOf(echo)}`;
    await startAndAwait('the tunnel is ready', 'cli', 'proxy', '--publish', publish);
  } catch (error) {
    await close();
    throw error;
  }
  stays.push(wins('cli', 'prc', 'run', '--path', lasting));

  load = (async () => {
    while (!isClosing) {
      // The tunnel may reset the connection; only the load matters.
      const socket = connect(entrance, '127.0.0.1').on('error', () => undefined);
      socket.resume().end('through the tunnel');
      await Promise.all([
        new Promise((resolve) => socket.once('close', resolve)),
        toEnd('cli', 'prc', 'run', '--path', brief, '--', '3'),
        toEnd('cli', 'prc', 'run', '--path', config),
        toEnd('srv', 'config', 'reload', '--config', config),
      ]);
      await delay(PAUSE_MS);
    }
  })();
  return { metricsPort, close };
}

/** Waits for a line; afterwards keeps reading, so that the program never blocks. */
async function saying(stream, wanted) {
  const said = [];
  for await (const line of createInterface(stream)) {
    said.push(line);
    if (!line.includes(wanted)) continue;
    stream.resume();
    return;
  }
  throw new Error(`the program ended before it printed ${wanted}; its output:\n${said.join('\n')}`);
}

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { startEcho } from '../echo-server.mjs';
import { generateFrames, octetsOf } from '../http2-frames.mjs';
import { generateMessage } from '../protobuf-fields.mjs';
import { sendInPieces } from '../send-in-pieces.mjs';
import { generateTunnel, tunnelOctetsOf } from '../tunnel-frames.mjs';

const WINS = path.resolve(import.meta.dirname, '../../../dist/wins.cjs');
/** A program that opens few files, so that a run is cheap. */
const PROGRAM = '#!/bin/sh\nexit 0\n';
const HEADS = [
  'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nrancher-wins-cli-proxy: x\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n',
  'GET / HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n',
  '',
];

/**
 * Starts the built daemon as a fuzz target. After each case, the daemon must still answer Info. The daemon runs with `--max-semi-space-size=1`,
 * because leaks show sooner if the heap has little space for new objects.
 */
export async function openDaemon({ definitions, createWinsClient }) {
  if (!existsSync(WINS)) throw new Error(`${WINS} does not exist; run npm run build`);
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-fuzz-daemon-'));
  const echo = await startEcho();
  const program = path.join(folder, 'hello');
  writeFileSync(program, PROGRAM, { mode: 0o755 });
  const config = path.join(folder, 'config');
  const whiteList = { processPaths: [program], proxyPorts: [echo.port] };
  writeFileSync(config, JSON.stringify({ white_list: whiteList }), { mode: 0o600 });
  const args = ['--max-semi-space-size=1', WINS, 'srv', 'app', 'run', '--config', config];
  const env = { ...process.env, WINS_RUNTIME_DIR: path.join(folder, 'run') };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const last = [];
  const { address, tunnelAddress } = await new Promise((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      last.push(line);
      if (last.length > 20) last.shift();
      if (line.includes('"msg":"ready"')) resolve(JSON.parse(line));
    });
    child.once('exit', () => reject(new Error(`the daemon did not start: ${last.join('\n')}`)));
  });
  const client = createWinsClient({ address });
  await client.info();

  const paths = [
    ...Array(10).fill('/wins.ProcessService/Start'),
    ...definitions.flatMap((all) => Object.values(all).map(({ path: name }) => name)),
    '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    '/x.Y/Z',
    '',
  ];
  const digest = createHash('sha1').update(PROGRAM).digest('hex');
  const start = Buffer.concat(
    [digest, program].map((text, index) =>
      Buffer.concat([Buffer.of(index === 0 ? 10 : 18, text.length), Buffer.from(text)]),
    ),
  );
  const bodies = [start.toString('hex'), ''];
  const asMessage = (hex) => (hex.length / 2).toString(16).padStart(10, '0') + hex;
  return {
    name: 'daemon',
    // With `restarts`, `play` does not shorten a failing case. Shorter cases need a running daemon, and the failing case may have killed it.
    restarts: true,
    generate: (rng) => {
      if (rng.chance(0.3))
        return { head: rng.chance(0.9) ? HEADS[0] : rng.pick(HEADS), ...generateTunnel(rng) };
      const bodyOf = () =>
        rng.choose(
          [4, () => asMessage(generateMessage(rng).join(''))],
          [4, () => asMessage(rng.pick(bodies))],
          [1, () => rng.size()],
        );
      return generateFrames(rng, { paths, bodyOf });
    },
    async run(given) {
      const socket = connect(given.head === undefined ? address : tunnelAddress);
      const octets =
        given.head === undefined
          ? octetsOf(given)
          : Buffer.concat([Buffer.from(given.head), tunnelOctetsOf(given, echo.port)]);
      await sendInPieces(socket, octets, given);
      try {
        await client.info();
      } catch (cause) {
        if (child.exitCode === null && child.signalCode === null) throw cause;
        const end = child.signalCode ?? child.exitCode;
        throw new Error(`the daemon ended (${end}): ${last.join('\n')}`, { cause });
      }
    },
    async close() {
      const peak = peakOf(child.pid);
      await client.close();
      if (child.exitCode === null && child.signalCode === null) {
        child.kill();
        await once(child, 'exit');
      }
      echo.close();
      rmSync(folder, { recursive: true });
      return peak;
    },
  };
}

/** Peak resident memory; undefined if the process has ended or the system does not report it. */
function peakOf(pid) {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  const kibibytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(file, 'utf8'))?.[1];
  return kibibytes && `at most ${Math.round(Number(kibibytes) / 1024)} MiB`;
}

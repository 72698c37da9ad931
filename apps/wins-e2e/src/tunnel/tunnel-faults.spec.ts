import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Daemon } from '../testing/daemon.js';
import { readPattern } from '../testing/tunnel/pattern.js';
import { PatternTunnel } from '../testing/tunnel/pattern-tunnel.js';
import { freePorts, HostProgram, Tunnel } from '../testing/tunnel/tunnel.js';
import { TunnelRelay } from '../testing/tunnel/tunnel-relay.js';

const KIB = 1024;
const MIB = 1024 * KIB;

describe('the tunnel in trouble', () => {
  let world: PatternTunnel;
  beforeEach(async () => {
    world = await PatternTunnel.make();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  it.each([1, 7, 4096])('carries its frames cut every %i bytes', async (cut) => {
    await using daemon = await Daemon.start(world.workspace, world.config());
    await using relay = await TunnelRelay.start(world.workspace, daemon, () => (chunk) => {
      const pieces: Buffer[] = [];
      for (let at = 0; at < chunk.length; at += cut) pieces.push(chunk.subarray(at, at + cut));
      return pieces;
    });
    const sizeBytes = Math.min(cut * 16, 256) * KIB;
    await using _tunnel = await Tunnel.start(world.workspace, world.publish, '--proxy', relay.path);
    expect(await world.download(sizeBytes)).toBe(sizeBytes);
  });

  it('ends only the stream that was reset, from either side', async () => {
    const sockets: Socket[] = [];
    await using fragile = await HostProgram.tcp((socket) => {
      sockets.push(socket);
      socket.write('hello');
    });
    await using _daemon = await Daemon.start(world.workspace, world.config(fragile.port));
    const [other = 0] = await freePorts(1);
    await using _tunnel = await Tunnel.start(
      world.workspace,
      `${world.publish} TCP:${other}:${fragile.port}`,
    );
    const open = async () => {
      const socket = connect(other, '127.0.0.1');
      const failed = new Promise((resolve) => socket.once('error', resolve));
      await once(socket, 'data');
      return { socket, failed };
    };
    const answer = await world.begin(50 * MIB);
    const first = await open();
    sockets[0]?.resetAndDestroy();
    expect(await first.failed).toMatchObject({ code: 'ECONNRESET' });
    const second = await open();
    const told = new Promise((resolve) => sockets[1]?.once('error', resolve));
    second.socket.resetAndDestroy();
    expect(await told).toMatchObject({ code: 'ECONNRESET' });
    expect(await readPattern(answer)).toBe(50 * MIB);
  });

  it('ends only the stream to a port where nobody listens, and says so once', async () => {
    const [nobody = 0, from = 0] = await freePorts(2);
    await using _daemon = await Daemon.start(world.workspace, world.config(nobody));
    await using tunnel = await Tunnel.start(
      world.workspace,
      `${world.publish} TCP:${from}:${nobody}`,
    );
    const answer = await world.begin(50 * MIB);
    for (let index = 0; index < 3; index += 1) {
      await expect(world.begin(1, from)).rejects.toMatchObject({ code: 'ECONNRESET' });
    }
    expect(await readPattern(answer)).toBe(50 * MIB);
    await tunnel.program.said('cannot reach host port');
    expect(tunnel.program.stderr().match(/cannot reach host port/g)).toHaveLength(1);
    expect(tunnel.program.stderr()).not.toContain('lost');
  });

  it('ends only the stream to a program that never answers, after the time for dialling', async () => {
    const source = `const server = require('node:net').createServer();
      server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => process.stdout.write(String(server.address().port)))`;
    const frozen = spawn(process.execPath, ['-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(frozen.stdout, 'data')) as [Buffer];
    const deaf = Number(line.toString());
    // A stopped program accepts no connections. Once its queue is full, the kernel ignores new ones.
    frozen.kill('SIGSTOP');
    const queue = Array.from({ length: 4 }, () =>
      connect(deaf, '127.0.0.1').on('error', () => undefined),
    );
    const [from = 0] = await freePorts(1);
    await using _daemon = await Daemon.start(world.workspace, world.config(deaf));
    await using tunnel = await Tunnel.start(
      world.workspace,
      `${world.publish} TCP:${from}:${deaf}`,
    );
    const unanswered = world.begin(1, from);
    const failed = expect(unanswered).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await world.download(50 * MIB)).toBe(50 * MIB);
    await failed;
    await tunnel.program.said('no answer');
    for (const socket of queue) socket.destroy();
    frozen.kill('SIGKILL');
    await once(frozen, 'exit');
  });
});

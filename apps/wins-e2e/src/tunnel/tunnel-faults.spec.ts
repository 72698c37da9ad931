import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Daemon } from '../harness/daemon.js';
import { readPattern, writePattern } from '../harness/pattern.js';
import { memoryGrowth, memoryOver } from '../harness/process-memory.js';
import { until } from '../harness/process-table.js';
import { freePorts, HostProgram, Tunnel } from '../harness/tunnel.js';
import { TunnelRelay } from '../harness/tunnel-relay.js';
import { Workspace } from '../harness/workspace.js';

const RESTARTS = 100;
const KIB = 1024;
const MIB = 1024 * KIB;

/** How many descriptors a process holds. */
const descriptors = (pid: number | undefined) => readdirSync(`/proc/${pid ?? 0}/fd`).length;

async function download(port: number, sizeBytes: number): Promise<number> {
  return readPattern(await begin(port, sizeBytes));
}

async function begin(port: number, sizeBytes: number): Promise<IncomingMessage> {
  const sent = request({ host: '127.0.0.1', port, path: `/${sizeBytes}`, agent: false });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => undefined); // the answer tells it too
  return answer;
}

/** A program that answers a path like /1000 with so many bytes. */
function patternProgram(): Promise<HostProgram> {
  return HostProgram.http((incoming, response) => {
    void writePattern(response, Number((incoming.url ?? '').slice(1))).then(() => response.end());
  });
}

describe('the tunnel in trouble', () => {
  let workspace: Workspace;
  let web: HostProgram;
  let port: number;
  beforeEach(async () => {
    workspace = new Workspace();
    web = await patternProgram();
    [port = 0] = await freePorts(1);
  });
  afterEach(async () => {
    await web[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const config = (...proxyPorts: number[]) => workspace.config([], { white_list: { proxyPorts } });

  /** What the program has sent to those who are connected. */
  const sent = () => web.openSockets.reduce((sum, socket) => sum + socket.bytesWritten, 0);

  /** Waits until back pressure has gone through the buffers of all on the way, and nothing moves any more. */
  const stopped = async (readers: number): Promise<void> => {
    let looks = 0;
    let last = 0;
    await until(() => {
      const waiting = web.openSockets.filter((each) => each.writableNeedDrain);
      looks = waiting.length === readers && sent() === last ? looks + 1 : 0;
      last = sent();
      return looks > 20;
    });
  };

  it('serves others while a hundred readers never read, and takes no more than 128 MiB for them', async () => {
    await using daemon = await Daemon.start(workspace, config(web.port));
    await using tunnel = await Tunnel.start(workspace, `TCP:${port}:${web.port}`);
    const both = [daemon.child.pid, tunnel.program.child.pid];
    const others = async () => expect(await download(port, 20 * MIB)).toBe(20 * MIB);
    const before = await memoryOver(both, others);
    const stalled = await Promise.all(Array.from({ length: 100 }, () => begin(port, 100 * MIB)));
    await stopped(100);
    const taken = await memoryOver(both, () => Promise.resolve());
    // Of this, 24 MiB wait for readers; the rest is what was freed and not given back, which a busy machine makes more of.
    for (const bytes of memoryGrowth(before, taken)) expect(bytes).toBeLessThan(128 * MIB);
    await others();
    for (const answer of stalled) answer.destroy();
    await until(() => web.openSockets.length === 0);
  });

  it('brings 1 GiB to a reader that stalls and then goes on', async () => {
    await using _daemon = await Daemon.start(workspace, config(web.port));
    await using _tunnel = await Tunnel.start(workspace, `TCP:${port}:${web.port}`);
    const answer = await begin(port, 1024 * MIB);
    await stopped(1);
    expect(await download(port, MIB)).toBe(MIB);
    expect(sent()).toBeLessThan(128 * MIB);
    expect(await readPattern(answer)).toBe(1024 * MIB);
  });

  it.each([1, 2, 3, 7, 4096])('carries its frames cut every %i bytes', async (cut) => {
    await using daemon = await Daemon.start(workspace, config(web.port));
    await using relay = await TunnelRelay.start(workspace, daemon, () => (chunk) => {
      const pieces: Buffer[] = [];
      for (let at = 0; at < chunk.length; at += cut) pieces.push(chunk.subarray(at, at + cut));
      return pieces;
    });
    const sizeBytes = Math.min(cut * 16, 256) * KIB;
    const publish = `TCP:${port}:${web.port}`;
    await using _tunnel = await Tunnel.start(workspace, publish, '--proxy', relay.path);
    expect(await download(port, sizeBytes)).toBe(sizeBytes);
  });

  it('ends only the stream that was reset, from either side', async () => {
    const sockets: Socket[] = [];
    await using fragile = await HostProgram.tcp((socket) => {
      sockets.push(socket);
      socket.write('hello');
    });
    await using _daemon = await Daemon.start(workspace, config(web.port, fragile.port));
    const [other = 0] = await freePorts(1);
    await using _tunnel = await Tunnel.start(
      workspace,
      `TCP:${port}:${web.port} TCP:${other}:${fragile.port}`,
    );
    const open = async () => {
      const socket = connect(other, '127.0.0.1');
      const failed = new Promise((resolve) => socket.once('error', resolve));
      await once(socket, 'data');
      return { socket, failed };
    };
    const answer = await begin(port, 50 * MIB);
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
    await using _daemon = await Daemon.start(workspace, config(web.port, nobody));
    await using tunnel = await Tunnel.start(
      workspace,
      `TCP:${port}:${web.port} TCP:${from}:${nobody}`,
    );
    const answer = await begin(port, 50 * MIB);
    for (let index = 0; index < 3; index += 1) {
      await expect(begin(from, 1)).rejects.toMatchObject({ code: 'ECONNRESET' });
    }
    expect(await readPattern(answer)).toBe(50 * MIB);
    expect(tunnel.program.stderr().match(/cannot be reached/g)).toHaveLength(1);
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
    // Nobody accepts any more; once the kernel's queue is full, it answers no knock.
    frozen.kill('SIGSTOP');
    const queue = Array.from({ length: 4 }, () =>
      connect(deaf, '127.0.0.1').on('error', () => undefined),
    );
    const [from = 0] = await freePorts(1);
    await using _daemon = await Daemon.start(workspace, config(web.port, deaf));
    await using tunnel = await Tunnel.start(
      workspace,
      `TCP:${port}:${web.port} TCP:${from}:${deaf}`,
    );
    const unanswered = begin(from, 1);
    const failed = expect(unanswered).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await download(port, 50 * MIB)).toBe(50 * MIB);
    await failed;
    expect(tunnel.program.stderr()).toContain('no answer');
    for (const socket of queue) socket.destroy();
    frozen.kill('SIGKILL');
    await once(frozen, 'exit');
  });

  it('holds nothing after ten thousand short connections', async () => {
    await using daemon = await Daemon.start(workspace, config(web.port));
    await using tunnel = await Tunnel.start(workspace, `TCP:${port}:${web.port}`);
    const both = [daemon.child.pid, tunnel.program.child.pid];
    const connections = async (count: number): Promise<void> => {
      let left = count;
      const worker = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          expect(await download(port, 100)).toBe(100);
        }
      };
      await Promise.all(Array.from({ length: 8 }, worker));
      await until(() => web.openSockets.length === 0);
    };
    const settled = both.map(descriptors);
    // The looks go over more than the heap takes from one collection of all to the next.
    const warm = await memoryOver(both, () => connections(2000));
    const growth = memoryGrowth(warm, await memoryOver(both, () => connections(2000)));
    for (const bytes of growth) expect(bytes).toBeLessThan(32 * MIB);
    await until(() => both.every((pid, index) => descriptors(pid) <= (settled[index] ?? 0)));
    expect(web.connections).toBe(24_000);
  });

  it('survives a hundred deaths of the daemon under load', async () => {
    const file = config(web.port);
    let daemon = await Daemon.start(workspace, file);
    await using tunnel = await Tunnel.start(workspace, `TCP:${port}:${web.port}`);
    const client = tunnel.program.child.pid;
    await download(port, MIB);
    const before = descriptors(client);
    const load = { on: true, good: 0, cut: 0 };
    const worker = async (): Promise<void> => {
      while (load.on) {
        try {
          // Whatever arrives is right; a stream that is cut fails.
          await download(port, 256 * KIB);
          load.good += 1;
        } catch (error) {
          if ((error as Error).message.includes('differ')) throw error;
          load.cut += 1;
        }
      }
    };
    const workers = [worker(), worker(), worker(), worker()];
    for (let death = 1; death <= RESTARTS; death += 1) {
      await daemon.stop('SIGKILL');
      daemon = Daemon.launch(workspace, file);
      await tunnel.program.said('the tunnel is back', death);
      const good = load.good;
      await until(() => load.good > good);
    }
    load.on = false;
    await Promise.all(workers);
    expect(await download(port, MIB)).toBe(MIB);
    await until(() => descriptors(client) <= before);
    expect((await tunnel.stop()).code).toBe(0);
    await daemon.stop();
  });
});

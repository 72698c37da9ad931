import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { Daemon } from './harness/daemon.js';
import { readPattern, writePattern } from './harness/pattern.js';
import { until } from './harness/process-table.js';
import { freePorts, HostProgram, Tunnel } from './harness/tunnel.js';
import { ROOT, Workspace } from './harness/workspace.js';

const RESTARTS = 100;
const KIB = 1024;
const MIB = 1024 * KIB;

/** What a process holds. */
const proc = (pid: number | undefined) => ({
  descriptors: () => readdirSync(`/proc/${pid ?? 0}/fd`).length,
  residentBytes: () =>
    Number(
      /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid ?? 0}/status`, 'utf8'))?.[1] ?? Infinity,
    ) * KIB,
});

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

  it('serves others while a hundred readers never read, and holds no more than 64 MiB for them', async () => {
    await using daemon = await Daemon.start(workspace, config(web.port));
    await using tunnel = await Tunnel.start(workspace, `TCP:${port}:${web.port}`);
    const both = [proc(daemon.child.pid), proc(tunnel.program.child.pid)];
    await download(port, 20 * MIB);
    const before = both.map((each) => each.residentBytes());
    const stalled = await Promise.all(Array.from({ length: 100 }, () => begin(port, 100 * MIB)));
    // Every program is stopped by back pressure, which went all the way through.
    await until(() => web.openSockets.filter((each) => each.writableNeedDrain).length === 100);
    expect(await download(port, 20 * MIB)).toBe(20 * MIB);
    const growth = both.map((each, index) => each.residentBytes() - (before[index] ?? 0));
    for (const bytes of growth) expect(bytes).toBeLessThan(64 * MIB);
    for (const answer of stalled) answer.destroy();
    await until(() => web.openSockets.length === 0);
  });

  it('brings 1 GiB to a reader that stalls and then goes on', async () => {
    await using _daemon = await Daemon.start(workspace, config(web.port));
    await using _tunnel = await Tunnel.start(workspace, `TCP:${port}:${web.port}`);
    const answer = await begin(port, 1024 * MIB);
    // Back pressure goes through the buffers of all on the way; then nothing moves any more.
    const sent = () => web.openSockets[0]?.bytesWritten;
    let looks = 0;
    let last = sent();
    await until(() => {
      looks = sent() === last && web.openSockets[0]?.writableNeedDrain === true ? looks + 1 : 0;
      last = sent();
      return looks > 20;
    });
    expect(await download(port, MIB)).toBe(MIB);
    expect(sent()).toBe(last);
    expect(await readPattern(answer)).toBe(1024 * MIB);
  });

  it.each([1, 2, 3, 7, 4096])('carries its frames cut every %i bytes', async (cut) => {
    await using daemon = await Daemon.start(workspace, config(web.port));
    const ready = await daemon.logged(({ msg }) => msg === 'ready');
    const relayPath = workspace.path('relay');
    const forward = (from: Socket, to: Socket): void => {
      from.on('data', (chunk: Buffer) => {
        for (let at = 0; at < chunk.length; at += cut) to.write(chunk.subarray(at, at + cut));
      });
      from.on('close', () => to.destroy());
      from.on('error', () => undefined);
    };
    const relay = createServer({ noDelay: true }, (near) => {
      const far = connect({ path: String(ready['tunnelAddress']), noDelay: true });
      forward(near, far);
      forward(far, near);
    });
    await once(relay.listen(relayPath), 'listening');
    const sizeBytes = Math.min(cut * 16, 256) * KIB;
    {
      const publish = `TCP:${port}:${web.port}`;
      await using _tunnel = await Tunnel.start(workspace, publish, '--proxy', relayPath);
      expect(await download(port, sizeBytes)).toBe(sizeBytes);
    }
    relay.close();
    await once(relay, 'close');
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
    const both = [proc(daemon.child.pid), proc(tunnel.program.child.pid)];
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
    const settled = both.map((each) => each.descriptors());
    // Until caches and the young heap have grown to their size.
    await connections(10_000);
    const warm = both.map((each) => each.residentBytes());
    await connections(10_000);
    const growth = both.map((each, index) => each.residentBytes() - (warm[index] ?? 0));
    for (const bytes of growth) expect(bytes).toBeLessThan(32 * MIB);
    await until(() => both.every((each, index) => each.descriptors() <= (settled[index] ?? 0)));
    expect(web.connections).toBe(20_000);
  });

  it('survives a hundred deaths of the daemon under load', async () => {
    const file = config(web.port);
    let daemon = await Daemon.start(workspace, file);
    await using tunnel = await Tunnel.start(workspace, `TCP:${port}:${web.port}`);
    const client = proc(tunnel.program.child.pid);
    await download(port, MIB);
    const descriptors = client.descriptors();
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
    await until(() => client.descriptors() <= descriptors);
    expect((await tunnel.stop()).code).toBe(0);
    await daemon.stop();
  });
});

describe.each(['0.2.6pre', '0.5.0'])('the recorded conversation of release %s', (release) => {
  const RECORDED_PORT = 5401;
  const HEAD_END = '\r\n\r\n';
  const recording = JSON.parse(
    readFileSync(
      path.join(ROOT, `libs/tcp-tunnel/src/recorded/remotedialer-${release}.json`),
      'utf8',
    ),
  ) as readonly { from: 'client' | 'server'; hex: string }[];
  const half = (from: 'client' | 'server'): Buffer =>
    Buffer.concat(
      recording.filter((entry) => entry.from === from).map(({ hex }) => Buffer.from(hex, 'hex')),
    );
  const bodyOf = (bytes: Buffer): Buffer =>
    bytes.subarray(bytes.indexOf(HEAD_END) + HEAD_END.length);
  const QUESTIONS = ['hello tunnel\n', 'x'.repeat(20_000)];

  /** Payloads of the Data messages in what a server sent, joined for each stream. */
  function answersIn(body: Buffer): string[] {
    const answers = new Map<number, string>();
    for (let at = 0; at + 2 <= body.length;) {
      const opcode = (body[at] ?? 0) & 15;
      const short = body[at + 1] ?? 0;
      const [length, head] =
        short < 126 ? [short, 2] : [body.length < at + 4 ? Infinity : body.readUInt16BE(at + 2), 4];
      if (at + head + length > body.length) break;
      const message = body.subarray(at + head, at + head + length);
      at += head + length;
      if (opcode !== 2) continue;
      // Varints: message id, stream id, type, and one more that nobody reads. Odd bits are signs.
      const values: number[] = [];
      let from = 0;
      while (values.length < 4 && from < message.length) {
        let value = 0;
        for (let shift = 1, more = true; more; shift *= 128) {
          const byte = message[from] ?? 0;
          value += (byte & 127) * shift;
          more = byte > 127;
          from += 1;
        }
        values.push(Math.floor(value / 2));
      }
      const [, stream = 0, type] = values;
      if (type === 1)
        answers.set(stream, (answers.get(stream) ?? '') + message.toString('latin1', from));
    }
    return [1, 2].map((stream) => answers.get(stream) ?? '');
  }

  it('is continued by the daemon as by the one that was recorded', async () => {
    using workspace = new Workspace();
    await using _echo = await HostProgram.tcp(
      (socket) => socket.pipe(socket),
      '127.0.0.1',
      RECORDED_PORT,
    );
    const config = workspace.config([], { white_list: { proxyPorts: [RECORDED_PORT] } });
    await using daemon = await Daemon.start(workspace, config);
    const ready = await daemon.logged(({ msg }) => msg === 'ready');
    const socket = connect(String(ready['tunnelAddress']));
    let received: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
    socket.write(half('client'));
    await until(() => answersIn(bodyOf(received))[1]?.length === 20_000);
    expect(answersIn(bodyOf(received))).toEqual(QUESTIONS);
    expect(answersIn(bodyOf(half('server')))).toEqual(QUESTIONS);
    socket.destroy();
  });

  it('satisfies the client, which gets what the recorded one got', async () => {
    using workspace = new Workspace();
    const pipe = workspace.path('recorded');
    const server = createServer((socket) => {
      let received = '';
      let played = false;
      let shaken = false;
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
        const key = /Sec-WebSocket-Key: (.*)\r/i.exec(received)?.[1];
        if (key !== undefined && !shaken) {
          shaken = true;
          const accept = createHash('sha1')
            .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
            .digest('base64');
          socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
              `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
          );
        }
        // The mask is of zeros, so the text of a Connect can be seen.
        if (!played && received.split(`tcp/localhost:${RECORDED_PORT}`).length === 3) {
          played = true;
          socket.write(bodyOf(half('server')));
        }
      });
    });
    await once(server.listen(pipe), 'listening');
    const [port = 0] = await freePorts(1);
    {
      const publish = `TCP:${port}:${RECORDED_PORT}`;
      await using _tunnel = await Tunnel.start(workspace, publish, '--proxy', pipe);
      const answers = QUESTIONS.map(async (question) => {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined);
        await once(socket, 'connect');
        socket.write(question);
        let answer = '';
        socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
        await until(() => answer.length === question.length);
        return answer;
      });
      expect(await Promise.all(answers)).toEqual(QUESTIONS);
    }
    server.close();
    await once(server, 'close');
  });
});

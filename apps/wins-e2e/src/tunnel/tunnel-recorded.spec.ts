import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { WebSocketServer } from 'ws';
import { Daemon } from '../testing/daemon.js';
import { until } from '../testing/process-table.js';
import { freePorts, HostProgram, Tunnel } from '../testing/tunnel/tunnel.js';
import { MESSAGE, TunnelFrames } from '../testing/tunnel/tunnel-frames.js';
import { ROOT, Workspace } from '../testing/workspace.js';

describe.each(['0.2.6pre', '0.5.0'])('the recorded conversation of release %s', (release) => {
  const RECORDED_PORT = 5401;
  const recording = JSON.parse(
    readFileSync(
      path.join(ROOT, `libs/tcp-tunnel/src/fixtures/remotedialer-${release}.json`),
      'utf8',
    ),
  ) as readonly { from: 'client' | 'server'; hex: string }[];
  const half = (from: 'client' | 'server'): Buffer =>
    Buffer.concat(
      recording.filter((entry) => entry.from === from).map(({ hex }) => Buffer.from(hex, 'hex')),
    );
  const QUESTIONS = ['hello tunnel\n', 'x'.repeat(20_000)];

  /** Without the HTTP head. */
  const framesOf = (bytes: Buffer): Buffer =>
    Buffer.concat(
      new TunnelFrames().add(bytes).flatMap((frame) => (frame.opcode === 0 ? [] : [frame.bytes])),
    );

  /** Payloads of the Data messages in what a server sent, joined for each stream. */
  function answersIn(bytes: Buffer): string[] {
    const data = new TunnelFrames().add(bytes).filter(({ type }) => type === MESSAGE.data);
    return [1, 2].map((id) =>
      data.flatMap(({ stream, body }) => (stream === id ? body.toString('latin1') : [])).join(''),
    );
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
    await until(() => answersIn(received)[1]?.length === 20_000);
    expect(answersIn(received)).toEqual(QUESTIONS);
    expect(answersIn(half('server'))).toEqual(QUESTIONS);
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
          socket.write(framesOf(half('server')));
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

describe('a daemon that ends its session at a Connect that it refuses, as every Go release does', () => {
  it('costs the open streams, and the client opens the next tunnel by itself', async () => {
    using workspace = new Workspace();
    const pipe = workspace.path('old');
    const [good = 0, bad = 0] = await freePorts(2);
    const http = createHttpServer();
    const webSockets = new WebSocketServer({ server: http });
    webSockets.on('connection', (session) =>
      session.on('message', (message: Buffer) => {
        if (message.includes(`tcp/localhost:${bad}`)) session.terminate();
        else if (message.includes('question')) session.send(message);
      }),
    );
    await once(http.listen(pipe), 'listening');
    {
      const publish = `TCP:${good} TCP:${bad}`;
      await using tunnel = await Tunnel.start(workspace, publish, '--proxy', pipe);
      const ask = async (): Promise<Socket> => {
        const socket = connect(good, '127.0.0.1');
        socket.write('question');
        expect(String((await once(socket, 'data'))[0])).toBe('question');
        return socket;
      };
      const open = once(await ask(), 'close');
      const refused = connect(bad, '127.0.0.1');
      await expect(once(refused, 'close')).rejects.toMatchObject({ code: 'ECONNRESET' });
      await expect(open).rejects.toMatchObject({ code: 'ECONNRESET' });
      await tunnel.program.said('the tunnel is back');
      (await ask()).destroy();
    }
    http.close();
    await once(http, 'close');
  });
});

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { Daemon } from '../testing/daemon.js';
import { until } from '../testing/process-table.js';
import { GoTunnelServer } from '../testing/tunnel/go-tunnel-server.js';
import { connected, say } from '../testing/tunnel/lost-messages.js';
import { freePorts, HostProgram, Tunnel } from '../testing/tunnel/tunnel.js';
import { MESSAGE, OPCODE, TunnelFrames } from '../testing/tunnel/tunnel-frames.js';
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

  const framesOf = (bytes: Buffer): Buffer =>
    Buffer.concat(
      new TunnelFrames().add(bytes).flatMap((frame) => (frame.opcode === 0 ? [] : [frame.bytes])),
    );

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
    let isTried = false;
    const server = createServer((socket) => {
      let received = '';
      let played = false;
      let shaken = false;
      const frames = new TunnelFrames();
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        for (const { opcode } of frames.add(chunk))
          if (opcode === OPCODE.ping) socket.write(Buffer.from([0x8a, 0]));
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
        // The mask is zero, so the text of a Connect is readable.
        isTried ||= received.includes(`tcp/localhost:${RECORDED_PORT}`);
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
      // With a Go daemon, the first connection to a port gets a separate session. That session gets no recorded answers.
      const first = await connected(port);
      await until(() => isTried);
      first.destroy();
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

describe.each(['says nothing more', 'closes it'])(
  'a daemon of a Go release, which ends the session at a Connect that it refuses and %s',
  (how) => {
    it('is not asked again for that port as long as it lives, and the other streams go on meanwhile', async () => {
      using workspace = new Workspace();
      const pipe = workspace.path('old');
      const [good = 0, bad = 0] = await freePorts(2);
      await using daemon = await GoTunnelServer.listen(pipe, {
        ports: [good],
        endsSilently: how === 'says nothing more',
      });
      const publish = `TCP:${good} TCP:${bad}`;
      await using tunnel = await Tunnel.start(workspace, publish, '--proxy', pipe);
      const open = await connected(good);
      expect(await say(open, 'before')).toBe('before');
      const closed = (port: number) => once(connect(port, '127.0.0.1').resume(), 'close');
      const refused = closed(bad);
      refused.catch(() => undefined);
      await until(() => daemon.connectsTo(bad) === 1);
      // While the client waits for the refusal, the open stream and new streams work.
      expect(await say(open, 'meanwhile')).toBe('meanwhile');
      const next = await connected(good);
      expect(await say(next, 'next')).toBe('next');
      await expect(refused).rejects.toMatchObject({ code: 'ECONNRESET' });
      await tunnel.program.said(
        `the daemon refuses host port ${bad}: it ended the session that requested it. Add the port to white_list.proxyPorts of its config`,
      );
      await expect(closed(bad)).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect(await say(open, 'after')).toBe('after');
      expect(daemon.connectsTo(bad)).toBe(1);
      expect(tunnel.program.stderr()).not.toContain('lost');
      for (const socket of [open, next]) socket.on('error', () => undefined);
      daemon.restart([good, bad]);
      await tunnel.program.said('the tunnel is back');
      const allowed = await connected(bad);
      expect(await say(allowed, 'allowed')).toBe('allowed');
      expect(daemon.connectsTo(bad)).toBe(2);
      allowed.destroy();
    });
  },
);

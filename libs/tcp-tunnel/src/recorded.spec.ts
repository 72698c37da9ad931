import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { openTunnel } from './client-tunnel.js';
import { serveTunnel } from './serve-tunnel.js';
import { readAll, startTcpServer, until } from './testing/tcp-server.js';
import { cutInto, dialWebSocket, startTransportServer } from './testing/tunnel-pair.js';
import { messagesOf, parseFrames } from './testing/web-socket-frames.js';
import { decodeMessage } from './wire/encode.js';
import type { TunnelMessage } from './wire/message.js';

interface Entry {
  readonly from: 'client' | 'server';
  readonly hex: string;
}

const HEAD_END = '\r\n\r\n';

function load(name: string): Record<'client' | 'server', { head: string; body: Buffer }> {
  const entries = JSON.parse(
    readFileSync(path.join(__dirname, 'fixtures', name), 'utf8'),
  ) as readonly Entry[];
  const half = (from: 'client' | 'server'): { head: string; body: Buffer } => {
    const bytes = Buffer.concat(
      entries.filter((entry) => entry.from === from).map((entry) => Buffer.from(entry.hex, 'hex')),
    );
    const end = bytes.indexOf(HEAD_END) + HEAD_END.length;
    return { head: bytes.toString('latin1', 0, end), body: bytes.subarray(end) };
  };
  return { client: half('client'), server: half('server') };
}

const dataOf = (bytes: Buffer): { id: unknown; payload: string }[] =>
  messagesOf(bytes)
    .map(decodeMessage)
    .filter((message): message is TunnelMessage & { type: 'data' } => message.type === 'data')
    .map(({ id, payload }) => ({ id, payload: payload.toString() }));

const streamOf = (bytes: Buffer, id: number): string =>
  dataOf(bytes)
    .filter((data) => data.id === id)
    .map((data) => data.payload)
    .join('');

describe.each(['remotedialer-0.2.6pre.json', 'remotedialer-0.5.0.json'])(
  'the recording %s',
  (name) => {
    const recording = load(name);

    it('reads as the messages it is known to hold', () => {
      const messages = messagesOf(recording.client.body).map(decodeMessage);
      expect(messages.map((message) => [message.type, 'id' in message && message.id])).toEqual([
        ['connect', 1],
        ['data', 1],
        ['connect', 2],
        ['data', 2],
      ]);
      expect(messages[0]).toEqual({ type: 'connect', id: 1, address: 'tcp/localhost:5401' });
      expect(dataOf(recording.server.body)).toEqual([
        { id: 1, payload: 'hello tunnel\n' },
        { id: 2, payload: 'x'.repeat(20_000) },
      ]);
    });

    it.each([1, 7, 65_536])(
      'is answered by our server as by the original, cut every %i bytes',
      async (cut) => {
        const echo = await startTcpServer((socket) => socket.pipe(socket));
        const transport = await startTransportServer((socket) =>
          serveTunnel(socket, {
            allowedPorts: [5401],
            dial: () => connect({ port: echo.port, host: '127.0.0.1', allowHalfOpen: true }),
          }),
        );
        const client = connect(transport.path);
        const cutter = cutInto(cut);
        cutter.pipe(client);
        let received: Buffer = Buffer.alloc(0);
        client.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
        cutter.write(recording.client.head, 'latin1');
        cutter.write(recording.client.body);
        const body = (): Buffer => received.subarray(received.indexOf(HEAD_END) + HEAD_END.length);
        await until(
          () =>
            streamOf(body(), 2).length === 20_000 &&
            parseFrames(body()).some(({ opcode }) => opcode === 10),
        );
        const accepted = /Sec-WebSocket-Accept: (.*)\r/;
        expect(accepted.exec(received.toString('latin1'))?.[1]).toBe(
          accepted.exec(recording.server.head)?.[1],
        );
        for (const id of [1, 2])
          expect(streamOf(body(), id)).toBe(streamOf(recording.server.body, id));
        expect(messagesOf(body()).map((bytes) => decodeMessage(bytes).type)).not.toContain('hello');
        client.destroy();
        await echo.close();
        await transport.close();
      },
    );

    it('satisfies our client, which gets what the original got', async () => {
      const directory = await mkdtemp(path.join(tmpdir(), 'recorded-'));
      const socketPath = path.join(directory, 'transport.sock');
      let sent: Buffer = Buffer.alloc(0);
      const server = createServer((socket) =>
        answerFromRecording(socket, recording.server.body, (bytes) => (sent = bytes)),
      );
      server.listen(socketPath);
      await once(server, 'listening');
      const tunnel = openTunnel(await dialWebSocket(() => connect(socketPath)));
      const [first, second] = [tunnel.connect(5401), tunnel.connect(5401)];
      first.end('hello tunnel\n');
      second.end('x'.repeat(20_000));
      const answers = await Promise.all([firstBytes(first, 13), firstBytes(second, 20_000)]);
      expect(answers).toEqual(['hello tunnel\n', 'x'.repeat(20_000)]);
      for (const id of [1, 2]) expect(streamOf(sent, id)).toBe(streamOf(recording.client.body, id));
      await tunnel.close();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true });
    });
  },
);

/** Completes the handshake, and sends the server's half of the recording once both streams are open. */
function answerFromRecording(socket: Socket, body: Buffer, seen: (bytes: Buffer) => void): void {
  let received: Buffer = Buffer.alloc(0);
  let stage: 'head' | 'connects' | 'played' = 'head';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const end = received.indexOf(HEAD_END) + HEAD_END.length;
    if (stage === 'head' && end >= HEAD_END.length) {
      const key = /Sec-WebSocket-Key: (.*)\r/i.exec(received.toString('latin1'))?.[1] ?? '';
      const accept = createHash('sha1')
        .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      stage = 'connects';
    }
    seen(received.subarray(end));
    const messages = messagesOf(received.subarray(end)).map(decodeMessage);
    if (
      stage === 'connects' &&
      messages.filter((message) => message.type === 'connect').length === 2
    ) {
      stage = 'played';
      socket.write(body);
    }
  });
  socket.on('end', () => socket.end());
}

function firstBytes(stream: Parameters<typeof readAll>[0], count: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.length >= count) resolve(text);
    });
  });
}

import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import https from 'node:https';
import { createCertificateAuthority } from '@wins/base/testing';
import { securely } from './judge-redirect.js';
import { askStatus, type StatusRequest } from './ask-status.js';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function ask(
  url: string,
  more: Partial<StatusRequest> = {},
  options: { readonly timeoutMs?: number } = {},
): Promise<number | undefined> {
  return askStatus(
    {
      url: new URL(url),
      trust: { roots: [] },
      userAgent: 'test',
      redirects: securely,
      maxRedirects: 1,
      ...more,
    },
    options,
  );
}

const answering = (answer: (socket: Socket) => void): Promise<number> =>
  portOf(
    createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => answer(socket));
    }),
  );

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const SPARE = 'x'.repeat(20_000);

describe('the status of an answer', () => {
  it.each([
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'],
    ['in chunks', `${CHUNKED}2\r\nok\r\na;x=1\r\n0123456789\r\n0\r\n\r\n`],
    ['in chunks with a trailer', `${CHUNKED}2\r\nok\r\n0\r\nX: y\r\n\r\n`],
    [
      'after another one of what is to come',
      'HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200\r\ncontent-length:0\r\n\r\n',
    ],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx'],
  ])('is told of one %s, once it is whole, although its connection stays', async (_, text) => {
    const whole = await answering((socket) => socket.write(text));
    expect(await ask(`http://127.0.0.1:${whole}/`)).toBe(200);
    const byBytes = await answering((socket) => {
      let index = 0;
      const next = (): void => {
        if (index < text.length)
          socket.write(text.charAt((index += 1) - 1), () => setImmediate(next));
      };
      socket.setNoDelay();
      next();
    });
    expect(await ask(`http://127.0.0.1:${byBytes}/`)).toBe(200);
    const cut = await answering((socket) => socket.end(text.slice(0, -1)));
    expect(await ask(`http://127.0.0.1:${cut}/`)).toBeUndefined();
  });

  it.each([
    ['no status line', 'hello\r\n\r\n'],
    ['a line that is no header', 'HTTP/1.1 200 OK\r\nno header\r\nContent-Length: 0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 1\r\n\r\n'],
    ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
    ['a chunk without size', `${CHUNKED}ok\r\n`],
    ['a head that is too long', `HTTP/1.1 200 OK\r\nX: ${SPARE}`],
  ])('is none of one with %s', async (_, text) => {
    const port = await answering((socket) => socket.write(text));
    expect(await ask(`http://127.0.0.1:${port}/`)).toBeUndefined();
  });

  it.each([
    ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n'],
    ['chunks', `${CHUNKED}fffff\r\n`],
  ])('does not wait for the rest of a long body with %s', async (_, head) => {
    const port = await answering((socket) => socket.write(head + SPARE));
    expect(await ask(`http://127.0.0.1:${port}/`)).toBe(200);
  });

  it('is that of the server behind a redirect, whose body is not waited for', async () => {
    const target = await answering((socket) => socket.end('HTTP/1.1 204 No\r\n\r\n'));
    const location = `Location: http://127.0.0.1:${target}/\r\n`;
    const head = `HTTP/1.1 302 Found\r\n${location}Content-Length: 5\r\n\r\n`;
    const port = await answering((socket) => socket.write(head));
    expect(await ask(`http://127.0.0.1:${port}/`)).toBe(204);
    expect(await ask(`http://127.0.0.1:${port}/`, { maxRedirects: 0 })).toBeUndefined();
    expect(await ask(`http://127.0.0.1:${port}/`, { redirects: () => 'none' })).toBeUndefined();
  });

  it('comes over TLS from a server that is known by its name, and no other is told anything', async () => {
    const authority = createCertificateAuthority('status');
    const { cert, key } = authority.issue('server', ['localhost']);
    let asked = 0;
    const server = https.createServer({ cert, key }, (request, response) => {
      asked += 1;
      response.end(request.headers.host);
    });
    const url = `https://localhost:${await portOf(server)}/`;
    expect(await ask(url, { trust: { roots: [authority.cert] } })).toBe(200);
    expect(await ask(url)).toBeUndefined();
    expect(await ask(url, { trust: { roots: ['no PEM'] } })).toBeUndefined();
    expect(asked).toBe(1);
  });

  it('is aborted with its reason once the signal aborts, and the connection ends', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const aborted = { name: 'NetError', code: 'aborted', cause: reason };
    let ended = Promise.resolve();
    const port = await answering((socket) => {
      ended = new Promise((resolve) => socket.on('close', () => resolve()));
      stop.abort(reason);
    });
    const request = {
      url: new URL(`http://127.0.0.1:${port}/`),
      trust: { roots: [] },
      userAgent: 'test',
      redirects: securely,
      maxRedirects: 0,
    };
    const { signal } = stop;
    await expect(askStatus(request, { signal })).rejects.toMatchObject(aborted);
    await ended;
    await expect(askStatus(request, { signal })).rejects.toMatchObject(aborted);
  });

  it('is none once the time is over', async () => {
    const port = await answering(() => undefined);
    expect(await ask(`http://127.0.0.1:${port}/`, {}, { timeoutMs: 20 })).toBeUndefined();
  });
});

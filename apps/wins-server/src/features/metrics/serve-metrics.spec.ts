import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { serveMetrics, type MetricsListener } from './serve-metrics.js';

const BODY = 'wins_handles 1\n';

describe('the listener for scrapes', () => {
  let listener: MetricsListener;
  let scrapes: number;
  let body: string;
  beforeEach(async () => {
    [scrapes, body] = [0, BODY];
    listener = await serveMetrics({
      listen: '127.0.0.1:0',
      contentType: 'text/plain; version=0.0.4',
      scrape: () => {
        scrapes += 1;
        return Promise.resolve(body);
      },
    });
  });
  afterEach(() => listener[Symbol.asyncDispose]());

  const open = async (): Promise<Socket> => {
    const socket = connect(listener.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  const get = (path = '/metrics', method = 'GET'): Promise<Response> =>
    fetch(`http://${listener.address}${path}`, { method, headers: { connection: 'close' } });

  it('answers GET /metrics, with a query or without', async () => {
    for (const path of ['/metrics', '/metrics?x=y']) {
      const answer = await get(path);
      expect([answer.status, await answer.text()]).toEqual([200, BODY]);
      expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4');
    }
  });

  it.each([
    ['/', 'GET', 404],
    ['/metrics/', 'GET', 404],
    ['/debug/pprof', 'GET', 404],
    ['/metrics', 'POST', 405],
    ['/metrics', 'DELETE', 405],
  ])('answers %s by %s with %i', async (path, method, status) => {
    const answer = await get(path, method);
    await answer.text();
    expect([answer.status, scrapes]).toEqual([status, 0]);
  });

  it('says no more than that it failed', async () => {
    await using failing = await serveMetrics({
      listen: '127.0.0.1:0',
      contentType: 'text/plain',
      scrape: () => Promise.reject(new Error('secret')),
    });
    const answer = await fetch(`http://${failing.address}/metrics`);
    expect([answer.status, await answer.text()]).toEqual([500, 'cannot read the metrics\n']);
  });

  it('listens for others where the config says so', async () => {
    await using open = await serveMetrics({
      listen: '0.0.0.0:0',
      contentType: 'text/plain',
      scrape: () => Promise.resolve(BODY),
    });
    expect(await (await fetch(`http://127.0.0.1:${open.port}/metrics`)).text()).toBe(BODY);
  });

  it.each(['localhost:9797', '9797', ''])('does not take %p for an address', async (listen) => {
    const options = { listen, contentType: 'text/plain', scrape: () => Promise.resolve('') };
    await expect(serveMetrics(options)).rejects.toMatchObject({ code: 'listenFailed' });
  });

  it('says which address it cannot have', async () => {
    const options = { contentType: 'text/plain', scrape: () => Promise.resolve('') };
    await expect(serveMetrics({ ...options, listen: listener.address })).rejects.toMatchObject({
      code: 'listenFailed',
      message: expect.stringContaining(listener.address) as string,
    });
  });

  it('gives the slots of scrapers that read nothing to others after a time-out (A93)', async () => {
    const large = 'x'.repeat(6 * 1024 * 1024);
    await using strict = await serveMetrics({
      listen: '127.0.0.1:0',
      contentType: 'text/plain',
      answerMs: 100,
      // Exceeds the socket buffers: 4 MiB of the sender, and at first 128 KiB of a receiver that reads nothing.
      scrape: () => Promise.resolve(large),
    });
    const silent = Array.from({ length: 16 }, () =>
      connect(strict.port, '127.0.0.1')
        .pause()
        .on('error', () => undefined),
    );
    for (const socket of silent) socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
    const ask = () => fetch(`http://${strict.address}/other`).catch(() => undefined);
    while ((await ask())?.status !== 404);
    for (const socket of silent) socket.destroy();
  });

  it('has room for who comes when all others wait for nothing, in the order of their last use', async () => {
    const idle = await Promise.all(Array.from({ length: 16 }, open));
    const closed = idle.map((socket) => once(socket, 'close'));
    expect((await get()).status).toBe(200);
    await Promise.race(closed);
    expect(idle.filter((socket) => socket.closed).length).toBeLessThan(16);
    for (const socket of idle) socket.destroy();
  });

  it('survives 1,000 scrapers at once (A93)', async () => {
    const sockets = Array.from({ length: 1000 }, () => {
      const socket = connect(listener.port, '127.0.0.1').on('error', () => undefined);
      socket.end('GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
      return socket.resume();
    });
    await Promise.all(sockets.map((socket) => new Promise((gone) => socket.once('close', gone))));
    expect(await (await get()).text()).toBe(BODY);
    expect(scrapes).toBeLessThanOrEqual(1001);
  });

  it('goes on when scrapers leave before their answer, and when they ask for many at once', async () => {
    const answers: (() => void)[] = [];
    await using slow = await serveMetrics({
      listen: '127.0.0.1:0',
      contentType: 'text/plain',
      scrape: () => new Promise((resolve) => answers.push(() => resolve(BODY))),
    });
    const request = 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n';
    const leaving = connect(slow.port, '127.0.0.1').on('error', () => undefined);
    leaving.write(request.repeat(3));
    while (answers.length < 3) await new Promise(setImmediate);
    leaving.resetAndDestroy();
    await once(leaving, 'close');
    for (const answer of answers.splice(0)) answer();
    const staying = connect(slow.port, '127.0.0.1');
    staying.end(request.repeat(2) + request.replace('host', 'connection: close\r\nhost'));
    while (answers.length < 3) await new Promise(setImmediate);
    for (const answer of answers) answer();
    expect((await textOf(staying)).split(BODY)).toHaveLength(4);
  });

  it('cuts what is no HTTP, and headers beyond 8 KiB', async () => {
    for (const bytes of [
      '\x16\x03\x01',
      `GET /metrics HTTP/1.1\r\nx: ${'y'.repeat(9000)}\r\n\r\n`,
    ]) {
      const socket = await open();
      socket.write(bytes);
      if (bytes.startsWith('\x16')) socket.end();
      expect(await textOf(socket)).toBe('');
    }
    expect(scrapes).toBe(0);
  });

  it('cuts what is open when it is closed, and may be closed twice', async () => {
    const socket = await open();
    const over = once(socket, 'close');
    await Promise.all([listener[Symbol.asyncDispose](), listener[Symbol.asyncDispose]()]);
    await over;
    await expect(get()).rejects.toThrow('fetch failed');
  });
});

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { askDaemons } from './daemon-client.js';

describe('the question for the release of a daemon that does not answer', () => {
  const { probe } = askDaemons();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  let folder: string;
  let pipe: string;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-probe-'));
    pipe = path.join(folder, 's');
    await once(server.listen(pipe), 'listening');
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
    rmSync(folder, { recursive: true });
  });

  it('ends as aborted, with the reason of the signal as its cause', async () => {
    const reason = new Error('enough');
    const stop = new AbortController();
    const options = { signal: stop.signal, timeoutMs: 30_000 };
    const aborted = { name: 'UpgradeError', code: 'aborted', cause: reason };
    server.once('connection', () => stop.abort(reason));
    await expect(probe(pipe, options)).rejects.toMatchObject(aborted);
    await expect(probe(pipe, options)).rejects.toMatchObject(aborted);
  });

  it('has no answer after its time-out', async () => {
    expect(await probe(pipe, { timeoutMs: 50 })).toBeUndefined();
  });
});

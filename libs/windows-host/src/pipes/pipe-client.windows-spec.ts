import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { processAccount } from '../access/process-account.js';
import { type PipeClient, securedPipe } from './secured-pipe.js';

describe('who opened a pipe', () => {
  async function clientOf(open: (address: string) => void): Promise<PipeClient | undefined> {
    const address = `\\\\.\\pipe\\wins-client-${process.pid}`;
    let accept: (client: PipeClient | undefined) => void;
    const accepted = new Promise<PipeClient | undefined>((resolve) => (accept = resolve));
    const sockets: Socket[] = [];
    const pipe = await securedPipe().open(
      { address },
      {
        accepted: (socket, client) => {
          sockets.push(socket.on('error', () => undefined));
          accept(client);
        },
        failed: () => undefined,
      },
    );
    open(address);
    const client = await accepted;
    for (const socket of sockets) socket.destroy();
    await pipe.close();
    return client;
  }

  it('is told by process, account and session', async () => {
    const client = await clientOf((address) => void connect(address).on('error', () => undefined));
    assert.equal(client?.pid, process.pid);
    assert.deepEqual(client.account, processAccount());
    assert.equal(typeof client.session, 'number');
  });

  it('is another process when another process did', async () => {
    let pid: number | undefined;
    const client = await clientOf((address) => {
      const source = `require('net').connect(${JSON.stringify(address)}).on('error', () => 0).resume()`;
      const child = spawn(process.execPath, ['-e', source], { stdio: 'ignore' });
      pid = child.pid;
      void once(child, 'exit');
    });
    assert.equal(client?.pid, pid);
    assert.match(client?.account?.user ?? '', /^S-1-5-/);
  });
});

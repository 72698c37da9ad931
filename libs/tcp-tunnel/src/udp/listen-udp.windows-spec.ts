import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { describe, it } from 'node:test';
import { startUdpEcho } from '../testing/udp-echo.js';
import { dialUdp } from './dial-udp.js';
import { listenUdp } from './listen-udp.js';
import { LocalAddresses } from './local-addresses.js';

/** Asks with a connected socket, as resolvers do: the system drops an answer from another address than the one asked. */
async function askedAt(address: string, port: number): Promise<string> {
  const socket = createSocket('udp4').on('error', () => undefined);
  socket.connect(port, address);
  await once(socket, 'connect');
  const again = setInterval(() => socket.send('x'), 100);
  const [, from] = (await once(socket, 'message')) as [Buffer, { readonly address: string }];
  clearInterval(again);
  socket.close();
  return from.address;
}

async function owned(port: number, address: string): Promise<string | Socket> {
  const socket = createSocket('udp4');
  try {
    await once(socket.bind({ port, address, exclusive: true }), 'listening');
    return socket;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? '';
  }
}

describe('a UDP port on all addresses, on Windows', () => {
  it('answers from the address that was asked, also one that it does not know yet, and keeps the port', async () => {
    const echo = await startUdpEcho();
    let found: ReturnType<typeof networkInterfaces> = {};
    await using listener = await listenUdp({
      host: '0.0.0.0',
      port: 0,
      addresses: new LocalAddresses({ read: () => found }),
      open: (events) => dialUdp({ host: '127.0.0.1', port: echo.port }, events),
    });
    const { port } = listener;
    assert.equal(await askedAt('127.0.0.1', port), '127.0.0.1');
    assert.equal(await owned(port, '0.0.0.0'), 'EADDRINUSE');
    found = networkInterfaces();
    const addresses = Object.values(found).flatMap((each) =>
      (each ?? []).filter(({ family }) => family === 'IPv4').map(({ address }) => address),
    );
    assert.ok(addresses.includes('127.0.0.1'));
    for (const address of addresses) assert.equal(await askedAt(address, port), address);
    assert.deepEqual(listener.problems, []);
    await echo.close();
  });
});

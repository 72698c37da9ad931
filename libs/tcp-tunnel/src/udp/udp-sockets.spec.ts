import { FakeClock } from '@wins/base/testing';
import { createSocket, Socket } from 'node:dgram';
import { once } from 'node:events';
import type { networkInterfaces, NetworkInterfaceInfo } from 'node:os';
import { startUdpEcho, type UdpEcho } from '../testing/udp-echo.js';
import { listenError } from '../tunnel-error.js';
import { dialUdp } from './dial-udp.js';
import { listenUdp, type ListenUdpOptions } from './listen-udp.js';
import { LocalAddresses, localAddresses } from './local-addresses.js';

type Adapters = ReturnType<typeof networkInterfaces>;

const adapters = (...addresses: readonly string[]): Adapters => ({
  lo: addresses.map((address) => ({ address, family: 'IPv4' }) as NetworkInterfaceInfo),
});

// On Windows a port on all addresses has two kinds of sockets.
const elsewhere = process.platform === 'win32' ? describe.skip : describe;

elsewhere('a UDP port on all addresses', () => {
  let echo: UdpEcho;
  let found: Adapters;
  let clock: FakeClock;
  const clients: Socket[] = [];

  beforeEach(async () => {
    echo = await startUdpEcho();
    clock = new FakeClock();
  });
  afterEach(async () => {
    for (const socket of clients.splice(0)) socket.close();
    await echo.close();
  });

  async function nextLook(): Promise<void> {
    clock.advance(Math.max(0, ...clock.waits));
    await new Promise(setImmediate);
  }
  const listen = (options: Partial<ListenUdpOptions> = {}) =>
    listenUdp({
      host: '0.0.0.0',
      port: 0,
      addresses: new LocalAddresses({ read: () => found, clock }),
      open: (events) => dialUdp({ host: '127.0.0.1', port: echo.port }, events),
      ...options,
    });
  /** Returns the address that the answer comes from. */
  async function askedAt(address: string, port: number): Promise<string> {
    const socket = createSocket('udp4').on('error', () => undefined);
    clients.push(socket);
    await once(socket.bind(0, '127.0.0.1'), 'listening');
    const send = () => socket.send('x', port, address);
    // A datagram may be lost.
    const again = setInterval(send, 1_000);
    send();
    const [, from] = (await once(socket, 'message')) as [Buffer, { readonly address: string }];
    clearInterval(again);
    return from.address;
  }
  async function owned(port: number, address: string): Promise<string | Socket> {
    const socket = createSocket('udp4');
    try {
      await once(socket.bind({ port, address, exclusive: true }), 'listening');
      clients.push(socket);
      return socket;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? '';
    }
  }

  it('answers from the address that was asked, also from one that comes later', async () => {
    found = adapters('127.0.0.1', '127.0.0.2');
    await using listener = await listen();
    for (const address of ['127.0.0.1', '127.0.0.2'])
      expect(await askedAt(address, listener.port)).toBe(address);
    found = adapters('127.0.0.1', '127.0.0.2', '127.0.0.3');
    await nextLook();
    expect(await askedAt('127.0.0.3', listener.port)).toBe('127.0.0.3');
  });

  it('listens on an address that was lost for as long as it may, because the adapter may only lack its cable', async () => {
    found = adapters('127.0.0.1', '127.0.0.2');
    let most = 2;
    await using listener = await listen({ maxAddresses: () => most });
    found = adapters('127.0.0.1', '127.0.0.3');
    most = 3;
    await nextLook();
    for (const address of ['127.0.0.3', '127.0.0.2'])
      expect(await askedAt(address, listener.port)).toBe(address);
    most = 2;
    await nextLook();
    expect(await owned(listener.port, '127.0.0.2')).toBeInstanceOf(Socket);
    expect(listener.problems).toEqual([]);
  });

  it('has one socket for more addresses than it may have, and says so', async () => {
    found = adapters('127.0.0.1', '127.0.0.2');
    let changes = 0;
    await using listener = await listen({
      maxAddresses: () => 2,
      onProblems: () => (changes += 1),
    });
    expect(listener.problems).toEqual([]);
    found = adapters('127.0.0.1', '127.0.0.2', '127.0.0.3');
    await nextLook();
    expect(changes).toBe(1);
    expect(listener.problems).toEqual([
      'answers may leave from another address than the one asked: found 3 addresses; wanted at most 2',
    ]);
    expect(await askedAt('127.0.0.9', listener.port)).toBe('127.0.0.1');
    found = adapters('127.0.0.2');
    await nextLook();
    expect(changes).toBe(2);
    expect(listener.problems).toEqual([]);
    expect(await askedAt('127.0.0.2', listener.port)).toBe('127.0.0.2');
  });

  it('keeps the port while the host has no address', async () => {
    found = {};
    await using listener = await listen();
    expect(await owned(listener.port, '127.0.0.1')).toBe('EADDRINUSE');
    found = adapters('127.0.0.2');
    await nextLook();
    expect(await askedAt('127.0.0.2', listener.port)).toBe('127.0.0.2');
    expect(await owned(listener.port, '0.0.0.0')).toBe('EADDRINUSE');
  });

  it('names the addresses where another program listens, and tries them again', async () => {
    found = adapters('127.0.0.1');
    await using first = await listen();
    found = adapters('127.0.0.1', '127.0.0.2');
    await using second = await listen({ port: first.port, host: '0.0.0.0' });
    expect(second.problems).toEqual([
      `cannot listen on 127.0.0.1 port ${first.port}: another program listens there`,
    ]);
    await first.close();
    second.retry();
    expect(second.problems).toEqual([]);
    expect(await askedAt('127.0.0.1', second.port)).toBe('127.0.0.1');
  });

  it('looks for addresses at most once a second, until it is closed', async () => {
    found = adapters('127.0.0.1');
    let reads = 0;
    const read = (): Adapters => {
      reads += 1;
      return found;
    };
    const listener = await listen({ addresses: new LocalAddresses({ read, clock }) });
    clock.advance(999);
    await new Promise(setImmediate);
    expect(reads).toBe(1);
    await nextLook();
    expect(reads).toBe(2);
    await listener.close();
    await nextLook();
    expect(reads).toBe(2);
  });

  it('looks for addresses within a minute, however long a look took', async () => {
    found = adapters('127.0.0.1');
    // As in a process, or a machine, that stood still meanwhile.
    const read = (): Adapters => {
      for (const endMs = performance.now() + 200; performance.now() < endMs;);
      return found;
    };
    await using _listener = await listen({ addresses: new LocalAddresses({ read, clock }) });
    expect(clock.waits).toEqual([60_000]);
  });

  it('goes on while the system cannot list its addresses', async () => {
    found = adapters('127.0.0.2');
    let reads = 0;
    const read = (): Adapters => {
      reads += 1;
      if (reads > 1) throw new Error('EMFILE');
      return found;
    };
    await using listener = await listen({ addresses: new LocalAddresses({ read, clock }) });
    for (let look = 1; look <= 2; look += 1) await nextLook();
    expect(reads).toBe(3);
    expect(await askedAt('127.0.0.2', listener.port)).toBe('127.0.0.2');
  });
});

describe('the addresses of a host', () => {
  it('are listed once, with the adapter of those that need one', () => {
    const of = (address: string, family: 'IPv4' | 'IPv6', scopeid = 0) =>
      ({ address, family, ...(family === 'IPv6' && { scopeid }) }) as NetworkInterfaceInfo;
    const found = localAddresses({
      eth0: [of('10.0.0.1', 'IPv4'), of('fd00::1', 'IPv6'), of('fe80::1', 'IPv6', 2)],
      eth1: [of('10.0.0.1', 'IPv4'), of('fe80::1', 'IPv6', 3)],
    });
    const zones = process.platform === 'win32' ? ['2', '3'] : ['eth0', 'eth1'];
    expect(found.map(({ host }) => host)).toEqual([
      '10.0.0.1',
      'fd00::1',
      `fe80::1%${zones[0]}`,
      `fe80::1%${zones[1]}`,
    ]);
    expect(new Set(found.map(({ key }) => key)).size).toBe(4);
  });
});

describe('a port that the system denies', () => {
  it.each([
    [
      'win32',
      '0.0.0.0',
      'tcp',
      /Windows reserves the port.*"netsh int ipv4 show excludedportrange protocol=tcp"/,
    ],
    ['win32', '10.0.0.1', 'udp', /"netsh int ipv4 show excludedportrange protocol=udp" lists/],
    ['win32', '::', 'udp', /"netsh int ipv6 show excludedportrange protocol=udp" lists/],
    ['linux', '0.0.0.0', 'tcp', /: this user may not listen there$/],
  ] as const)('is explained for %s: %s %s', (platform, host, protocol, message) => {
    const error = listenError({ host, port: 50_000, protocol }, { code: 'EACCES' }, platform);
    expect(error).toMatchObject({ code: 'addressDenied', port: 50_000 });
    expect(error.message).toMatch(message);
  });
});

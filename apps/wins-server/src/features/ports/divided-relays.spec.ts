import { PortRelays } from '@wins/tcp-tunnel';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { ClientScheduler, type Turn } from '../../kernel/admission/client-scheduler.js';
import { Shares } from '../../kernel/admission/shares.js';
import { divideAmongSources } from './feature.js';

const ROW = { what: 'connections', total: 8, reserve: 0, floor: 1, atLimit: 'refused' } as const;
const HOST = '127.0.0.1';

describe('relayed ports', () => {
  const turns: Turn[] = [];
  const opened: { close(): unknown }[] = [];
  let changed: () => void = () => undefined;
  const relays = new PortRelays({
    ...divideAmongSources(
      new Shares(ROW),
      new ClientScheduler({ ended: (turn) => turns.push(turn) }),
    ),
    maxFlows: 64,
    maxSockets: 64,
    onChange: () => changed(),
    onRefused: () => undefined,
  });
  afterAll(async () => {
    await relays.close();
    for (const each of opened) each.close();
  });
  const own = <T extends { close(): unknown }>(each: T): T => {
    opened.push(each);
    return each;
  };
  const portOf = (of: { address(): unknown }) => (of.address() as AddressInfo).port;
  const relayed = (proto: 'tcp' | 'udp', listen: number, to: number) => ({
    proto,
    listen: `${HOST}:${listen}`,
    to: `${HOST}:${to}`,
    allowReserved: false,
    allowHost: true,
  });
  async function freePort(): Promise<number> {
    const server = createServer();
    await once(server.listen(0, HOST), 'listening');
    const port = portOf(server);
    server.close();
    await once(server, 'close');
    return port;
  }
  async function open(port: number, localAddress = HOST) {
    const socket = connect({ port, host: HOST, localAddress }).on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  it('take turns by source address, in both directions of TCP and UDP, beside bulk of another address', async () => {
    const flood = own(
      createServer((socket) => {
        const block = Buffer.alloc(64 * 1024);
        const fill = (): void => {
          while (socket.write(block));
        };
        socket.on('error', () => undefined).on('drain', fill);
        fill();
      }),
    );
    const echo = own(createServer((socket) => socket.on('error', () => undefined).pipe(socket)));
    for (const server of [flood, echo]) await once(server.listen(0, HOST), 'listening');
    const dns = own(createSocket('udp4'));
    dns.on('message', (datagram, { port, address }) => dns.send(datagram, port, address));
    await once(dns.bind(0, HOST), 'listening');
    const [a, b, c] = [await freePort(), await freePort(), await freePort()];
    const wanted = [
      relayed('tcp', a, portOf(flood)),
      relayed('tcp', b, portOf(echo)),
      relayed('udp', c, portOf(dns)),
    ];
    relays.want(wanted, { ownAddresses: [], ownPorts: [] });
    while (relays.standings.some(({ state }) => state !== 'listening'))
      await new Promise<void>((resolve) => (changed = resolve));
    const bulk = [await open(a), await open(a), await open(a)];
    for (const socket of bulk) socket.resume();
    const from = (address: string) =>
      turns.filter(({ client }) => client.key === `address ${address}`);
    const other = await open(b, '127.0.0.2');
    while (from(HOST).length < 100) await new Promise((resolve) => setImmediate(resolve));
    for (let trip = 1; trip <= 20; trip += 1) {
      other.write('x');
      await once(other, 'data');
      expect(from('127.0.0.2').length).toBeGreaterThanOrEqual(2 * trip);
    }
    const asker = own(createSocket('udp4')).bind(0, '127.0.0.3');
    await once(asker, 'listening');
    const send = () => asker.send('x', c, HOST);
    const again = setInterval(send, 1000);
    send();
    const [answer] = (await once(asker, 'message')) as [Buffer];
    clearInterval(again);
    expect(answer.toString()).toBe('x');
    expect(from('127.0.0.3').map(({ what }) => what)).toEqual(['relayed port', 'relayed port']);
    for (const socket of [...bulk, other]) socket.destroy();
  });
});

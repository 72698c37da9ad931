import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { PortRelays, type RelayState, type WantedPort } from '../index.js';

const FACTS = { ownAddresses: [], ownPorts: [] };

/** Gives each source address half of the connections. */
function halves(total: number) {
  const taken = new Map<string, number>();
  const add = (source: string, count: number) =>
    taken.set(source, (taken.get(source) ?? 0) + count);
  return {
    total,
    taken: () => [...taken.values()].reduce((sum, count) => sum + count, 0),
    take: (source: string) => {
      if ((taken.get(source) ?? 0) >= total / 2) return undefined;
      add(source, 1);
      return { [Symbol.dispose]: () => void add(source, -1) };
    },
  };
}

/** Reads until the end. Unlike `for await`, this leaves the other direction of the socket open. */
function text(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let read = '';
    socket.on('data', (chunk: Buffer) => (read += chunk.toString()));
    socket.once('end', () => resolve(read)).once('error', reject);
  });
}

/** Starts a stand-in for a container: after the end of a request it answers with its name and the request. */
async function startTcp(name: string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    void text(socket).then(
      (asked) => socket.end(`${name} ${asked}`),
      () => undefined,
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

async function startUdp(name: string): Promise<UdpSocket> {
  const socket = createSocket('udp4');
  socket.on('message', (datagram, { port, address }) =>
    socket.send(`${name} ${datagram.toString()}`, port, address),
  );
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

const portOf = (server: Server | UdpSocket) => (server.address() as AddressInfo).port;

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

const relayed = (proto: 'tcp' | 'udp', listen: number, to: number): WantedPort => ({
  proto,
  listen: `127.0.0.1:${listen}`,
  to: `127.0.0.1:${to}`,
  allowReserved: false,
  allowHost: true,
});

describe('relayed ports', () => {
  const opened: { close(): unknown }[] = [];
  const refused: unknown[] = [];
  let changed: () => void = () => undefined;
  let relays: PortRelays;
  let taken: () => number;

  beforeEach(() => {
    refused.length = 0;
    const connections = halves(8);
    taken = connections.taken;
    relays = new PortRelays({
      connections,
      maxFlows: 64,
      maxSockets: 64,
      onChange: () => changed(),
      onRefused: (_relay, error) => refused.push(error),
    });
  });
  afterEach(async () => {
    await relays.close();
    for (const each of opened.splice(0)) each.close();
  });
  const own = <T extends { close(): unknown }>(each: T): T => {
    opened.push(each);
    return each;
  };
  const states = () => relays.standings.map(({ state }) => state);
  async function stand(...wanted: (RelayState | 'rejected' | 'down')[]): Promise<void> {
    while (states().join() !== wanted.join())
      await new Promise<void>((resolve) => (changed = resolve));
  }
  async function want(...ports: WantedPort[]): Promise<void> {
    relays.want(ports, FACTS);
    await stand(...ports.map(() => 'listening' as const));
  }
  async function open(port: number): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }
  function ask(port: number, question = ''): Promise<string> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(question);
    return text(socket);
  }
  async function askUdp(port: number, socket = own(createSocket('udp4'))): Promise<string> {
    const send = () => socket.send('x', port, '127.0.0.1');
    const again = setInterval(send, 1000);
    send();
    const [answer] = (await once(socket, 'message')) as [Buffer];
    clearInterval(again);
    return answer.toString();
  }

  it('lead to containers, of TCP with half-close and of UDP', async () => {
    const [tcp, udp] = [own(await startTcp('web')), own(await startUdp('dns'))];
    const [a, b] = [await freePort(), await freePort()];
    await want(relayed('tcp', a, portOf(tcp)), relayed('udp', b, portOf(udp)));
    expect(await ask(a, 'question')).toBe('web question');
    expect(await askUdp(b)).toBe('dns x');
    expect(relays.standings.map(({ open }) => open)).toEqual([0, 1]);
  });

  it('move and close as the config changes, and others are not touched', async () => {
    const [one, other] = [own(await startTcp('one')), own(await startTcp('other'))];
    const [first, second] = [own(await startUdp('first')), own(await startUdp('second'))];
    const [a, b, c] = [await freePort(), await freePort(), await freePort()];
    const kept = relayed('tcp', a, portOf(one));
    await want(kept, relayed('tcp', b, portOf(one)), relayed('udp', c, portOf(first)));
    const [open1, open2] = [await open(a), await open(b)];
    const asker = own(createSocket('udp4'));
    expect(await askUdp(c, asker)).toBe('first x');

    await want(kept, relayed('tcp', b, portOf(other)), relayed('udp', c, portOf(second)));
    expect(await ask(b)).toBe('other ');
    expect(await askUdp(c, asker)).toBe('second x');

    const reset = expect(text(open2)).rejects.toMatchObject({ code: 'ECONNRESET' });
    await want(kept);
    await reset;
    open1.end('still');
    expect(await text(open1)).toBe('one still');
    await relays.close();
    const next = own(createServer()).listen(a, '127.0.0.1');
    await once(next, 'listening');
  });

  it.each(['tcp', 'udp'] as const)('that are busy are told, and tried again: %s', async (proto) => {
    const container = own(proto === 'tcp' ? await startTcp('web') : await startUdp('dns'));
    const owner = proto === 'tcp' ? await startTcp('owner') : await startUdp('owner');
    relays.want([relayed(proto, portOf(owner), portOf(container))], FACTS);
    await stand('busy');
    const port = portOf(owner);
    expect(relays.standings).toMatchObject([
      { detail: `cannot listen on 127.0.0.1 port ${port}: another program listens there` },
    ]);
    owner.close();
    await once(owner, 'close');
    await stand('listening');
    expect(await (proto === 'tcp' ? ask(port) : askUdp(port))).toMatch(/^(web|dns) /);
  });

  it('close a connection that the container refuses, and say so', async () => {
    const container = await startTcp('web');
    const port = await freePort();
    await want(relayed('tcp', port, portOf(container)));
    const living = await open(port);
    expect(await ask(port)).toBe('web ');
    container.close();
    living.destroy();
    await once(container, 'close');
    await expect(ask(port)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(refused).toMatchObject([{ code: 'dialRefused' }]);
    expect(relays.refusals).toEqual({ tcp: 1, udp: 0 });
  });

  it('reset a connection that the container resets, and the other way round', async () => {
    let accepted: Socket | undefined;
    const container = own(
      createServer((socket) => {
        accepted = socket.on('error', () => undefined);
      }),
    );
    await once(container.listen(0, '127.0.0.1'), 'listening');
    const port = await freePort();
    await want(relayed('tcp', port, portOf(container)));
    const [client] = [await open(port), await once(container, 'connection')];
    accepted?.resetAndDestroy();
    await expect(text(client)).rejects.toMatchObject({ code: 'ECONNRESET' });

    const [second] = [await open(port), await once(container, 'connection')];
    const reset = once(accepted ?? second, 'error') as Promise<[{ code: string }]>;
    second.resetAndDestroy();
    expect((await reset)[0].code).toBe('ECONNRESET');
  });

  it('give one address half of the connections, and refuse more', async () => {
    const port = await freePort();
    const container = own(await startTcp('web'));
    await want(relayed('tcp', port, portOf(container)));
    const sockets = [];
    for (let n = 0; n < 4; n += 1) sockets.push(await open(port));
    await expect(ask(port)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(refused).toMatchObject([{ code: 'tooManyStreams' }]);
    for (const socket of sockets) {
      socket.end('x');
      expect(await text(socket)).toBe('web x');
    }
  });

  it('give one address half of the flows', async () => {
    const [udp, port] = [own(await startUdp('dns')), await freePort()];
    await want(relayed('udp', port, portOf(udp)));
    for (let count = 0; count < 40; count += 1) await askUdp(port);
    expect(relays.standings[0]?.open).toBe(32);
  });

  it('count a connection until its client, too, has its end', async () => {
    const port = await freePort();
    const answering = new Set<Socket>();
    const container = own(
      createServer({ allowHalfOpen: true }, (socket) => {
        answering.add(socket);
        socket.on('error', () => undefined).once('close', () => answering.delete(socket));
        void text(socket).then((size) => socket.end(Buffer.alloc(Number(size))));
      }),
    );
    await once(container.listen(0, '127.0.0.1'), 'listening');
    await want(relayed('tcp', port, portOf(container)));
    const openCount = () => relays.standings[0]?.open ?? 0;
    const isHeld = async (size: number): Promise<boolean> => {
      const client = await open(port);
      client.end(String(size));
      let last = '';
      for (let quiet = 0; quiet < 500; quiet += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        const now = [...answering].map(({ bytesWritten }) => bytesWritten).join();
        if (now !== last) quiet = 0;
        last = now;
      }
      const isOpen = openCount() > 0;
      expect(taken()).toBe(openCount());
      client.destroy();
      while (openCount() > 0) await new Promise((resolve) => setImmediate(resolve));
      return isOpen;
    };
    // Finds the shortest answer that the system does not buffer whole: the container has its end, and the relay holds the rest.
    let [least, most] = [0, 64 * 1024 * 1024];
    while (most - least > 64 * 1024) {
      const size = (least + most) / 2;
      if (await isHeld(size)) most = size;
      else least = size;
    }
  }, 60_000);

  it('are taken down by hand and come back', async () => {
    const port = await freePort();
    const container = own(await startTcp('web'));
    await want(relayed('tcp', port, portOf(container)));
    relays.setDown(true);
    expect(states()).toEqual(['down']);
    relays.setDown(false);
    await stand('listening');
    expect(await ask(port)).toBe('web ');
  });

  it('that may not be are rejected alone', async () => {
    const container = own(await startTcp('web'));
    const port = await freePort();
    const good = relayed('tcp', port, portOf(container));
    relays.want(
      [{ ...good, listen: '127.0.0.1:3389' }, { ...good, allowHost: false }, good],
      FACTS,
    );
    await stand('rejected', 'rejected', 'listening');
    expect(await ask(port)).toBe('web ');
  });
});

import { failingCallbacks, hushWarnings, type ReportingOperation } from '@wins/base/testing';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import {
  listenTcp,
  listenUdp,
  openTunnel,
  PortRelays,
  serveTunnel,
  type PortRelaysOptions,
  type ServeTunnelOptions,
  type UdpFlow,
  type UdpFlowEvents,
} from './index.js';
import { dialUdp } from './udp/dial-udp.js';
import { LocalAddresses } from './udp/local-addresses.js';
import { RawPeer } from './testing/raw-peer.js';
import { readAll, startTcpServer, until } from './testing/tcp-server.js';
import { openPair, startTransportServer } from './testing/tunnel-pair.js';
import { openUdp, startUdpEcho } from './testing/udp-echo.js';

const HOST = '127.0.0.1';
const ignore = (): void => undefined;
const ends: (() => unknown)[] = [];

async function startTarget(): Promise<number> {
  const target = await startTcpServer((socket) => socket.end('hello'));
  ends.push(() => target.close());
  return target.port;
}

async function startEcho(): Promise<number> {
  const echo = await startUdpEcho();
  ends.push(() => echo.close());
  return echo.port;
}

/** A port that refuses connections and datagrams. */
async function closedPort(): Promise<number> {
  const server = await startTcpServer(ignore);
  await server.close();
  return server.port;
}

async function read(port: number): Promise<string> {
  return (await readAll(connect(port, HOST))).toString();
}

async function connectInVain(port: number): Promise<void> {
  const socket = connect(port, HOST).on('error', ignore).resume();
  await new Promise((resolve) => socket.once('close', resolve));
}

/** Opens a stream to each port: to one that answers, and to one that refuses. */
async function serve(options: Partial<ServeTunnelOptions>): Promise<void> {
  const [target, refusing] = [await startTarget(), await closedPort()];
  const pair = await openPair({ allowedPorts: [target, refusing], ...options });
  ends.push(() => pair.close());
  const refused = once(pair.client.connect(refusing), 'error');
  expect((await readAll(pair.client.connect(target))).toString()).toBe('hello');
  expect(await refused).toMatchObject([{ code: 'dialRefused' }]);
}

/** Asks until the flow has answered. */
async function answered(flow: UdpFlow, isAnswered: () => boolean): Promise<void> {
  ends.push(() => flow.close());
  while (!isAnswered()) {
    flow.send(Buffer.from('x'));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Calls `callback` for the first datagram, and waits for a second one. */
async function carry(
  open: (events: UdpFlowEvents) => UdpFlow,
  callback: () => unknown,
): Promise<void> {
  let count = 0;
  const onDatagram = (): unknown => ((count += 1), callback());
  await answered(open({ onDatagram, onEnd: ignore }), () => count > 1);
}

async function openFlow(port: number) {
  const pair = await openPair({ allowedPorts: [], allowedUdpPorts: [port] });
  ends.push(() => pair.close());
  await pair.client.probe();
  return (events: UdpFlowEvents) => pair.client.openFlow(port, events);
}

/** Sends to a port that refuses, until the flow ends. */
async function endFlow(
  open: (events: UdpFlowEvents) => UdpFlow,
  callback: () => unknown,
): Promise<void> {
  let hasEnded = false;
  const onEnd = (): unknown => ((hasEnded = true), callback());
  await answered(open({ onDatagram: ignore, onEnd }), () => hasEnded);
}

/** Relays a port that answers, and one whose target refuses. */
async function relay(options: Partial<PortRelaysOptions>): Promise<void> {
  const [first, second] = [await closedPort(), await closedPort()];
  const relays = new PortRelays({
    connections: { total: 8, take: () => ({ [Symbol.dispose]: ignore }) },
    maxFlows: 8,
    maxSockets: 8,
    onChange: ignore,
    onRefused: ignore,
    ...options,
  });
  ends.push(() => relays.close());
  const wanted = (listen: number, to: number) => ({
    proto: 'tcp' as const,
    listen: `${HOST}:${listen}`,
    to: `${HOST}:${to}`,
    allowReserved: false,
    allowHost: true,
  });
  const ports = [wanted(first, await startTarget()), wanted(second, await closedPort())];
  relays.want(ports, { ownAddresses: [], ownPorts: [] });
  await until(() => relays.standings.every(({ state }) => state === 'listening'));
  await connectInVain(second);
  expect(await read(first)).toBe('hello');
  expect(relays.refusals.tcp).toBe(1);
}

/** Closes all that an operation has opened before the operation ends, because a callback may report the close. */
function closing(operations: Readonly<Record<string, ReportingOperation>>) {
  return failingCallbacks(
    Object.fromEntries(
      Object.entries(operations).map(([name, operation]) => [
        name,
        async (callback: () => unknown) => {
          try {
            await operation(callback);
          } finally {
            for (const end of ends.splice(0).reverse()) await end();
          }
        },
      ]),
    ),
  );
}

describe('a tunnel carries on when a callback fails:', () => {
  it.each(
    closing({
      'serveTunnel.onStream': (callback) => serve({ onStream: callback }),
      'serveTunnel.onDialed': (callback) => serve({ onDialed: callback }),
      'serveTunnel.onDialed of datagrams': async (callback) => {
        const port = await startEcho();
        const pair = await openPair({
          allowedPorts: [],
          allowedUdpPorts: [port],
          onDialed: callback,
        });
        ends.push(() => pair.close());
        await pair.client.probe();
        await carry((events) => pair.client.openFlow(port, events), ignore);
      },
      'openTunnel.onPeerNeverPauses': async (callback) => {
        let accepted: (peer: RawPeer) => void = ignore;
        const peer = new Promise<RawPeer>((resolve) => (accepted = resolve));
        const transport = await startTransportServer((socket) => accepted(new RawPeer(socket)));
        ends.push(() => transport.close());
        const calls: unknown[] = [];
        const client = openTunnel(await transport.dial(), {
          onPeerNeverPauses: () => (calls.push(1), callback()),
        });
        ends.push(() => client.close());
        const stream = client.connect(80);
        const server = await peer;
        const part = Buffer.alloc(64_000);
        for (let sent = 0; sent < 750; sent += 1) server.sendData(1, part);
        await until(() => calls.length > 0);
        server.send(server.encode.error(1, 'EOF'));
        expect((await readAll(stream)).length).toBe(750 * part.length);
      },
      'openTunnel.onRefused': async (callback) => {
        const port = await startTarget();
        const transport = await startTransportServer((socket) =>
          serveTunnel(socket, { allowedPorts: [port] }),
        );
        ends.push(() => transport.close());
        const tunnel = await openTunnel({
          address: transport.path,
          publish: [
            { hostPort: port, port: 0 },
            { hostPort: await closedPort(), port: 0 },
          ],
          onRefused: callback,
        });
        ends.push(() => tunnel.close());
        const [open, refused] = tunnel.ports.map(({ port: local }) => local);
        await connectInVain(refused ?? 0);
        expect(await read(open ?? 0)).toBe('hello');
      },
      'listenTcp.onRefused': async (callback) => {
        const target = await startTarget();
        let count = 0;
        const listener = await listenTcp({
          host: HOST,
          port: 0,
          open: () => {
            count += 1;
            if (count === 1) throw new Error('no tunnel yet');
            return connect(target, HOST);
          },
          onRefused: callback,
        });
        ends.push(() => listener.close());
        await connectInVain(listener.port);
        expect(await read(listener.port)).toBe('hello');
      },
      'listenUdp.onRefused': async (callback) => {
        const echo = await startEcho();
        const client = await openUdp();
        ends.push(() => client.socket.close());
        let count = 0;
        const listener = await listenUdp({
          host: HOST,
          port: 0,
          open: (events) => {
            count += 1;
            if (count === 1) throw new Error('no tunnel yet');
            return dialUdp({ host: HOST, port: echo }, events);
          },
          onRefused: callback,
        });
        ends.push(() => listener.close());
        expect((await client.ask(listener.port, Buffer.from('x'))).toString()).toBe('x');
      },
      'listenUdp.onProblems': async (callback) => {
        const echo = await startEcho();
        const client = await openUdp();
        ends.push(() => client.socket.close());
        const listener = await listenUdp({
          host: '0.0.0.0',
          port: 0,
          addresses: new LocalAddresses({
            read: () => ({
              lo: ['127.0.0.1', '127.0.0.2'].map(
                (address) => ({ address, family: 'IPv4' }) as NetworkInterfaceInfo,
              ),
            }),
          }),
          maxAddresses: () => 1,
          open: (events) => dialUdp({ host: HOST, port: echo }, events),
          onProblems: callback,
        });
        ends.push(() => listener.close());
        expect(listener.problems).toEqual([expect.stringContaining('wanted at most 1')]);
        expect((await client.ask(listener.port, Buffer.from('x'))).toString()).toBe('x');
      },
      'onDatagram of openFlow': async (callback) =>
        carry(await openFlow(await startEcho()), callback),
      'onEnd of openFlow': async (callback) =>
        endFlow(await openFlow(await closedPort()), callback),
      'PortRelays.onChange': (callback) => relay({ onChange: callback }),
      'PortRelays.onRefused': (callback) => relay({ onRefused: callback }),
    }),
  )('%s', (_name, play) => play());
});

it('refuses a Connect whose record throws, and carries the next one', async () => {
  using _hushed = hushWarnings();
  const port = await startTarget();
  const rules: string[] = [];
  const pair = await openPair({
    allowedPorts: [port],
    onConnect: ({ rule }) => {
      rules.push(rule);
      if (rules.length === 1) throw new Error('the log is full');
    },
  });
  ends.push(() => pair.close());
  expect(await once(pair.client.connect(port), 'error')).toMatchObject([{ rule: 'not-recorded' }]);
  expect((await readAll(pair.client.connect(port))).toString()).toBe('hello');
  expect(rules).toEqual(['port-allowed', 'not-recorded', 'port-allowed']);
  for (const end of ends.splice(0).reverse()) await end();
});

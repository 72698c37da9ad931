import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Daemon } from '../harness/daemon.js';
import { readPattern, writePattern } from '../harness/pattern.js';
import { until } from '../harness/process-table.js';
import { freePorts, HostProgram, textOf, Tunnel } from '../harness/tunnel.js';
import { MESSAGE, TunnelFrames } from '../harness/tunnel-frames.js';
import { TunnelRelay, type Passing, type Sender } from '../harness/tunnel-relay.js';
import { Workspace } from '../harness/workspace.js';

const SIZE_BYTES = 64 * 1024 * 1024;
type Kind = keyof typeof MESSAGE;

/** Loses the first message of each of these kinds, and doubles the second. */
class Loss {
  private readonly seen = new Map<string, number>();

  constructor(private readonly kinds: readonly `${Sender} ${Kind}`[]) {}

  times(kind: `${Sender} ${Kind}`): number {
    return this.seen.get(kind) ?? 0;
  }

  readonly passing: Passing = (from) => {
    const frames = new TunnelFrames();
    return (chunk) =>
      frames.add(chunk).flatMap(({ bytes, type }) => {
        const kind = this.kinds.find((each) => each === `${from} ${nameOf(type)}`);
        if (kind === undefined) return [bytes];
        const times = this.times(kind) + 1;
        this.seen.set(kind, times);
        return times === 1 ? [] : times === 2 ? [bytes, bytes] : [bytes];
      });
  };
}

function nameOf(type: number): string {
  return Object.entries(MESSAGE).find(([, number]) => number === type)?.[0] ?? '';
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}

describe('a message of the tunnel that gets lost', () => {
  let workspace: Workspace;
  beforeEach(() => {
    workspace = new Workspace();
  });
  afterEach(() => workspace[Symbol.dispose]());

  const start = (...programs: readonly HostProgram[]): Promise<Daemon> =>
    Daemon.start(
      workspace,
      workspace.config([], { white_list: { proxyPorts: programs.map(({ port }) => port) } }),
    );

  it('is repeated when it is a Pause, a Resume or an End: every stream comes to its end, whole', async () => {
    await using source = await HostProgram.tcp((socket) => {
      void writePattern(socket, SIZE_BYTES).then(() => socket.end());
    });
    let readOn: () => void = () => undefined;
    const mayRead = new Promise<void>((resolve) => (readOn = resolve));
    await using sink = await HostProgram.http((incoming, response) => {
      void mayRead
        .then(() => readPattern(incoming))
        .then((sizeBytes) => response.end(String(sizeBytes)));
    });
    await using patient = await HostProgram.tcp((socket) => {
      void textOf(socket).then((question) => socket.end(`you said: ${question}`));
    });
    await using daemon = await start(source, sink, patient);
    const loss = new Loss([
      'client pause',
      'client resume',
      'client end',
      'daemon pause',
      'daemon resume',
    ]);
    await using relay = await TunnelRelay.start(workspace, daemon, loss.passing);
    const [down = 0, up = 0, ask = 0] = await freePorts(3);
    await using tunnel = await Tunnel.start(
      workspace,
      `TCP:${down}:${source.port} TCP:${up}:${sink.port} TCP:${ask}:${patient.port}`,
      '--proxy',
      relay.path,
    );
    const asking = await connected(ask);
    asking.end('what?');
    const sent = request({ host: '127.0.0.1', port: up, method: 'POST', agent: false });
    void writePattern(sent, SIZE_BYTES).then(() => sent.end());
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    const unread = await connected(down);
    // A sender that was not told goes on, and is told again.
    await until(() => loss.times('client pause') > 1 && loss.times('daemon pause') > 1);
    readOn();
    const [received, answer, reply] = await Promise.all([
      readPattern(unread),
      answered.then(([response]) => textOf(response)),
      textOf(asking),
    ]);
    expect([received, answer, reply]).toEqual([SIZE_BYTES, String(SIZE_BYTES), 'you said: what?']);
    for (const kind of ['client resume', 'client end', 'daemon resume'] as const)
      expect(loss.times(kind)).toBeGreaterThan(1);
    expect(tunnel.program.stderr()).not.toContain('lost');
  });

  it('is made up for when it is an Error: both sides learn within the minute that the stream is gone', async () => {
    const sockets: Socket[] = [];
    await using fragile = await HostProgram.tcp((socket) => {
      sockets.push(socket);
      socket.write('hello');
    });
    await using echo = await HostProgram.tcp((socket) => socket.pipe(socket));
    await using daemon = await start(fragile, echo);
    const loss = new Loss(['client error', 'daemon error']);
    await using relay = await TunnelRelay.start(workspace, daemon, loss.passing);
    const [port = 0, other = 0] = await freePorts(2);
    await using tunnel = await Tunnel.start(
      workspace,
      `TCP:${port}:${fragile.port} TCP:${other}:${echo.port}`,
      '--proxy',
      relay.path,
    );
    const open = async (): Promise<Socket> => {
      const socket = await connected(port);
      await once(socket, 'data');
      return socket;
    };
    const [first, second] = [await open(), await open()];
    const steady = await connected(other);
    const heard = textOf(steady);
    steady.write('before, ');
    const ends = [first, sockets[1]].map(
      (socket) => new Promise((resolve) => socket?.once('error', resolve)),
    );
    sockets[0]?.resetAndDestroy();
    second.resetAndDestroy();
    await until(() => loss.times('client error') > 0 && loss.times('daemon error') > 0);
    for (const error of await Promise.all(ends))
      expect(error).toMatchObject({ code: 'ECONNRESET' });
    steady.end('after');
    expect(await heard).toBe('before, after');
    expect(tunnel.program.stderr()).not.toContain('lost');
  });
});

// Tests that wait for a limit: 60 s for a silent peer, and 30 s for a stopped reader.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { runWins } from '../testing/built-program.js';
import { Daemon, type LogRecord } from '../testing/daemon.js';
import { connected, Loss, say } from '../testing/tunnel/lost-messages.js';
import { until } from '../testing/process-table.js';
import { freePorts, HostProgram, textOf, Tunnel } from '../testing/tunnel/tunnel.js';
import { TunnelRelay } from '../testing/tunnel/tunnel-relay.js';
import { Workspace } from '../testing/workspace.js';

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

describe('a tunnel that falls silent', () => {
  it('for ever, with no end of the connection, ends on both sides, gives its slot back and is opened again', async () => {
    await using echo = await HostProgram.tcp((socket) => socket.pipe(socket));
    // Only one session is allowed, so the daemon must close the dead tunnel before it accepts another.
    await using daemon = await Daemon.start(
      workspace,
      workspace.config([], {
        white_list: { proxyPorts: [echo.port] },
        tunnel: { maxSessions: 1 },
      }),
    );
    await using relay = await TunnelRelay.start(workspace, daemon);
    const [port = 0] = await freePorts(1);
    await using tunnel = await Tunnel.start(
      workspace,
      `TCP:${port}:${echo.port}`,
      '--proxy',
      relay.path,
    );
    const socket = connect(port, '127.0.0.1');
    expect(await say(socket, 'hello')).toBe('hello');
    const cut = new Promise((resolve) => socket.once('error', resolve));
    relay.freeze();
    const ended = await daemon.logged(({ msg }) => msg === 'tunnel ended');
    expect(ended).toMatchObject({ reason: 'failed', err: { code: 'peerSilent' } });
    expect(await cut).toMatchObject({ code: 'ECONNRESET' });
    await tunnel.program.said('the tunnel is back');
    const next = connect(port, '127.0.0.1');
    expect(await say(next, 'again')).toBe('again');
    expect(echo.openSockets).toHaveLength(1);
    next.destroy();
    // The client checks for silence only at each ping, every 5 s.
    expect((await tunnel.stop()).stderr).toMatch(
      /the tunnel is lost: no traffic from the peer for 6\d s \(limit 60 s\)/,
    );
  });
});

describe('a message of the tunnel that gets lost', () => {
  it('is made up for when it is an Error: both sides learn within the minute that the stream is gone', async () => {
    const sockets: Socket[] = [];
    await using fragile = await HostProgram.tcp((socket) => {
      sockets.push(socket);
      socket.write('hello');
    });
    await using echo = await HostProgram.tcp((socket) => socket.pipe(socket));
    await using daemon = await Daemon.start(
      workspace,
      workspace.config([], { white_list: { proxyPorts: [fragile.port, echo.port] } }),
    );
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

describe('uploads to a program that hangs', () => {
  const STREAMS = 4;

  it('give their streams back once they are aborted, also when they were all that the client may have', async () => {
    const source = `require('node:net').createServer((socket) => socket.resume())
      .listen(0, '127.0.0.1', function () { process.stdout.write(String(this.address().port)) })`;
    const hung = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
    using _end = { [Symbol.dispose]: () => void hung.kill('SIGKILL') };
    const [line] = (await once(hung.stdout, 'data')) as [Buffer];
    hung.kill('SIGSTOP');
    await using echo = await HostProgram.tcp((socket) => socket.pipe(socket));
    const config = workspace.config([], {
      white_list: { proxyPorts: [Number(line.toString()), echo.port] },
      tunnel: { maxStreams: STREAMS },
      debug: true,
    });
    await using daemon = await Daemon.start(workspace, config);
    const [up = 0, other = 0] = await freePorts(2);
    await using tunnel = await Tunnel.start(
      workspace,
      `TCP:${up}:${line.toString()} TCP:${other}:${echo.port}`,
    );
    const uploads = await Promise.all(Array.from({ length: STREAMS }, () => connected(up)));
    let moved = 0;
    let last = -1;
    for (const upload of uploads) {
      upload.on('error', () => undefined);
      const more = (): void => {
        moved += 1;
        upload.write(Buffer.alloc(1024 * 1024), (error) => (error ? undefined : more()));
      };
      more();
    }
    for (let looks = 0; looks < 100; looks += 1) {
      if (moved !== last) looks = 0;
      last = moved;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const refused = await connected(other);
    await expect(textOf(refused)).rejects.toMatchObject({ code: 'ECONNRESET' });
    await tunnel.program.said('stream-limit');
    for (const upload of uploads) upload.resetAndDestroy();
    const cut = ({ msg, code }: LogRecord): boolean =>
      msg === 'stream ended' && code === 'readerStopped';
    await until(() => daemon.log.filter(cut).length === STREAMS);
    const next = await connected(other);
    next.end('there');
    expect(await textOf(next)).toBe('there');
    const args = ['srv', 'events', '--config', config, '-o', 'json'];
    const { stdout } = await runWins(args, workspace.environment);
    expect(stdout.toString()).toMatch(/"streamCut".*"readerStopped"/);
  });
});

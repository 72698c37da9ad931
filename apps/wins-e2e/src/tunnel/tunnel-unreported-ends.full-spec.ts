import { Daemon } from '../testing/daemon.js';
import { until } from '../testing/process-table.js';
import { GoTunnelClient } from '../testing/tunnel/go-tunnel-client.js';
import { HostProgram } from '../testing/tunnel/tunnel.js';
import { runWins } from '../testing/built-program.js';
import { Workspace } from '../testing/workspace.js';

const STREAMS = 1024;
const CONNECTIONS = 5000;
const AT_ONCE = 16;

async function startDaemon(workspace: Workspace, port: number) {
  const config = workspace.config([], { white_list: { proxyPorts: [port] } });
  const daemon = await Daemon.start(workspace, config);
  const { tunnelAddress } = await daemon.logged(({ msg }) => msg === 'ready');
  return { config, daemon, address: String(tunnelAddress) };
}

describe('a Go client that does not report the ends of its connections', () => {
  it('has 5,000 connections served, 16 at once, while its connection that is used goes on', async () => {
    using workspace = new Workspace();
    await using echo = await HostProgram.tcp((socket) => socket.pipe(socket));
    const started = await startDaemon(workspace, echo.port);
    await using _daemon = started.daemon;
    using client = await GoTunnelClient.open(started.address);
    const silent = client.connect(echo.port);
    expect(await silent.echo('once')).toBe('once');
    const used = client.connect(echo.port);
    const text = 'x'.repeat(64);
    let left = CONNECTIONS;
    const connectAll = async (): Promise<void> => {
      while (left > 0) {
        const number = (left -= 1);
        expect(await client.connect(echo.port).echo(text)).toBe(text);
        if (number % 500 === 0) expect(await used.echo('again')).toBe('again');
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, connectAll));
    expect(await used.echo('still')).toBe('still');
    expect(await client.connect(echo.port).echo(text)).toBe(text);
    expect(used.error).toBeUndefined();
    expect(silent.error).toMatch(/^replaced after \d+ s without data/);
    await until(() => echo.openSockets.length === STREAMS);
    const { stdout } = await runWins(
      ['srv', 'events', '--config', started.config, '-o', 'json'],
      workspace.environment,
    );
    expect(stdout.toString()).toMatch(/"streamCut".*"streamIdle"/);
  });
});

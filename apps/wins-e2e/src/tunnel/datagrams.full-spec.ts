import { createSocket } from 'node:dgram';
import { Daemon } from '../testing/daemon.js';
import { startWins } from '../testing/built-program.js';
import { GoTunnelServer } from '../testing/tunnel/go-tunnel-server.js';
import { freePorts, Tunnel } from '../testing/tunnel/tunnel.js';
import { askUdp, freeUdpPort, UdpProgram } from '../testing/tunnel/udp.js';
import { Workspace } from '../testing/workspace.js';

describe('datagrams through the tunnel', () => {
  let workspace: Workspace;
  beforeAll(() => (workspace = new Workspace()));
  afterAll(() => workspace[Symbol.dispose]());
  const config = (white_list: object) => workspace.config([], { white_list });

  it('come back through wins cli proxy --publish UDP:…, to ports that the config lists for UDP', async () => {
    await using echo = await UdpProgram.start();
    const listed = config({ proxyPorts: [9], proxyUdpPorts: [echo.port] });
    await using daemon = await Daemon.start(workspace, listed);
    const port = await freeUdpPort();
    await using tunnel = await Tunnel.start(workspace, `UDP:${port}:${echo.port}`);
    for (const bytes of [1, 512, 1472, 65_507]) {
      const datagram = Buffer.alloc(bytes, 'd');
      expect((await askUdp(port, datagram)).equals(datagram)).toBe(true);
    }

    // A port that is listed for TCP is not open for UDP: the daemon ends open flows and refuses new ones.
    const { length } = daemon.log;
    config({ proxyPorts: [9, echo.port] });
    await daemon.logged(({ msg }) => msg === 'config changed', length);
    const asker = createSocket('udp4');
    const again = setInterval(() => asker.send('x', port, '127.0.0.1'), 50);
    await tunnel.program.said(
      `the daemon refuses host UDP port ${echo.port}: add it to white_list.proxyUdpPorts`,
    );
    clearInterval(again);
    asker.close();
    const address = `udp/localhost:${echo.port}`;
    await daemon.logged(
      (record) => record['address'] === address && record['verdict'] === 'refused',
    );
  });

  it('and streams to ports that the config does not list are warned of before the tunnel is ready', async () => {
    await using _daemon = await Daemon.start(workspace, config({ proxyPorts: [9] }));
    const [one, other] = await freePorts(2);
    const publish = `UDP:${await freeUdpPort()}:9 TCP:${one}:9 TCP:${other}:2`;
    await using tunnel = await Tunnel.start(workspace, publish);
    expect(tunnel.program.stderr().split('\n').slice(0, 3)).toEqual([
      'wins: the daemon refuses host UDP port 9: add it to white_list.proxyUdpPorts of its config',
      'wins: the daemon refuses host port 2: add it to white_list.proxyPorts of its config',
      expect.stringMatching(/^wins: the tunnel is ready: /),
    ]);
  });

  it('are not supported by a Go daemon, and the client reports this at once', async () => {
    const pipe = workspace.path('go');
    await using _server = await GoTunnelServer.listen(pipe, { ports: [53], endsSilently: false });
    const args = ['cli', 'proxy', '--proxy', pipe, '--publish', `UDP:${await freeUdpPort()}:53`];
    const { code, stderr } = await startWins(args, workspace.environment).outcome;
    expect(stderr).toContain('the daemon is too old to carry UDP. Upgrade it');
    expect(code).toBe(125);
  });
});

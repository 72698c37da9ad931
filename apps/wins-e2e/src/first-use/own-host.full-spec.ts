import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { freePorts } from '../testing/tunnel/tunnel.js';
import { Workspace } from '../testing/workspace.js';

describe("wins cli proxy on the daemon's own host", () => {
  it('refuses a port that would lead to itself, at once, and says under which to publish', async () => {
    using workspace = new Workspace();
    const [port] = await freePorts(1);
    const config = workspace.config([], { white_list: { processPaths: [], proxyPorts: [port] } });
    await using _daemon = await Daemon.start(workspace, config);
    const { code, stderr } = await runWins(
      ['cli', 'proxy', '--publish', `TCP:${port}`, '--wait-timeout', '1h'],
      workspace.environment,
    );
    expect(code).toBe(125);
    expect(stderr).toBe(
      `wins: cannot publish port ${port}: the daemon runs on this host, where host port ${port} is this command itself, ` +
        `so connections would loop. Run this in a container with its own network, or publish another port: TCP:OTHER:${port}\n`,
    );
  });

  it('registers no service elsewhere than on Windows, and does not read like success', async () => {
    using workspace = new Workspace();
    const { code, stdout, stderr } = await runWins(
      ['srv', 'app', 'run', '--register'],
      workspace.environment,
    );
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 69,
      stdout: '',
      stderr: `wins: cannot register the service rancher-wins: this is ${process.platform}, not Windows. Have a supervisor such as systemd run "wins srv app run"\n`,
    });
  });
});

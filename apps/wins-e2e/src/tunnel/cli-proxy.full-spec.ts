import { existsSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { until } from '../testing/process-table.js';
import { ask } from '../testing/tunnel/published-port.js';
import { freePorts, HostProgram, textOf, Tunnel } from '../testing/tunnel/tunnel.js';
import { Workspace } from '../testing/workspace.js';

const greet = () => HostProgram.http((_incoming, response) => response.end('hello'));
const list = (workspace: Workspace, ...proxyPorts: number[]) =>
  workspace.config([], { white_list: { processPaths: [], proxyPorts } });
const proxy = (workspace: Workspace, ...args: string[]) =>
  runWins(['cli', 'proxy', ...args], workspace.environment);

describe('wins cli proxy', () => {
  let workspace: Workspace;
  let web: HostProgram;
  let slow: HostProgram;
  let daemon: Daemon;
  let finish: () => void;
  beforeAll(async () => {
    workspace = new Workspace();
    web = await greet();
    slow = await HostProgram.http((_incoming, response) => {
      response.write('first');
      finish = () => response.end('last');
    });
    daemon = await Daemon.start(workspace, list(workspace, web.port, slow.port));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    for (const program of [web, slow]) await program[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it('names the port that it cannot listen on, in one line', async () => {
    const [free = 0] = await freePorts(1);
    const taken = web.port;
    const { code, stderr } = await proxy(workspace, '--publish', `TCP:${free} TCP:${taken}`);
    expect(code).toBe(125);
    expect(stderr).toMatch(
      new RegExp(`^wins: cannot publish port ${taken}: [^\\n]*TCP:other:${taken}[^\\n]*\\n$`),
    );
  });

  it('serves the allowed ports when another one is refused, and says once which', async () => {
    await using other = await HostProgram.http((_incoming, response) => response.end('secret'));
    const [good = 0, bad = 0] = await freePorts(2);
    const publish = `TCP:${good}:${web.port} TCP:${bad}:${other.port}`;
    await using tunnel = await Tunnel.start(workspace, publish);
    const before = web.connections;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await textOf(await ask(good, '/', { agent }));
    for (let index = 0; index < 3; index += 1) {
      await expect(ask(bad, '/')).rejects.toThrow();
      expect(await textOf(await ask(good, '/', { agent }))).toBe('hello');
    }
    agent.destroy();
    expect(web.connections).toBe(before + 1);
    expect(other.connections).toBe(0);
    await tunnel.program.said('refuses host port');
    const refusals = tunnel.program.stderr().match(/^wins: .*refuses host port.*$/gm);
    expect(refusals).toEqual([expect.stringContaining(`${other.port}: add it to white_list`)]);
    await daemon.logged(({ verdict, port }) => verdict === 'refused' && port === other.port);
  });

  it('reaches a port that is added to the config while the tunnel is up, and no longer one that is removed', async () => {
    await using added = await greet();
    const [port = 0] = await freePorts(1);
    await using _tunnel = await Tunnel.start(workspace, `TCP:${port}:${added.port}`);
    await expect(ask(port, '/')).rejects.toThrow();
    const change = async (...ports: number[]): Promise<void> => {
      const skip = daemon.log.length;
      list(workspace, web.port, slow.port, ...ports);
      await daemon.logged(({ msg }) => msg === 'config changed', skip);
    };
    await change(added.port);
    expect(await textOf(await ask(port, '/'))).toBe('hello');
    await change();
    await expect(ask(port, '/')).rejects.toThrow();
  });

  it('lets open connections end before it ends, with 0', async () => {
    const [port = 0] = await freePorts(1);
    await using tunnel = await Tunnel.start(workspace, `TCP:${port}:${slow.port}`);
    const answer = await ask(port, '/');
    tunnel.program.child.kill('SIGTERM');
    await until(() => !accepts(port));
    finish();
    expect(await textOf(answer)).toBe('firstlast');
    expect((await tunnel.program.outcome).code).toBe(0);
  });

  it('takes one literal address to listen on', async () => {
    const [port = 0] = await freePorts(1);
    await using _tunnel = await Tunnel.start(
      workspace,
      `TCP:${port}:${web.port}`,
      '--listen-address',
      '127.0.0.2',
    );
    expect(await textOf(await ask(port, '/', { host: '127.0.0.2' }))).toBe('hello');
    await expect(ask(port, '/', { host: '127.0.0.1' })).rejects.toThrow('ECONNREFUSED');
  });
});

describe('wins cli proxy, of a daemon that comes and goes', () => {
  let workspace: Workspace;
  let web: HostProgram;
  let port: number;
  let publish: string;
  beforeEach(async () => {
    workspace = new Workspace();
    web = await greet();
    [port = 0] = await freePorts(1);
    publish = `TCP:${port}:${web.port}`;
  });
  afterEach(async () => {
    await web[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const start = () => Daemon.start(workspace, list(workspace, web.port));

  it('reports in one line that there is no daemon, or waits for it', async () => {
    const impatient = await proxy(workspace, '--publish', publish);
    expect(impatient.code).toBe(125);
    expect(impatient.stderr).toMatch(
      /^wins: [^\n]*rancher_wins_proxy[^\n]*--wait-timeout[^\n]*\n$/,
    );
    await using patient = Tunnel.launch(workspace, publish, '--wait-timeout', '60s');
    await using _daemon = await start();
    await patient.program.said('the tunnel is ready');
    expect(await textOf(await ask(port, '/'))).toBe('hello');
  });

  it('keeps its ready file exactly while the tunnel is up', async () => {
    const file = workspace.write('ready', 'left over');
    await using tunnel = Tunnel.launch(
      workspace,
      publish,
      '--wait-timeout',
      '60s',
      '--ready-file',
      file,
    );
    await until(() => !existsSync(file));
    const first = await start();
    await until(() => existsSync(file));
    await first.stop();
    await tunnel.program.said('the tunnel is lost');
    expect(existsSync(file)).toBe(false);
    await using _second = await start();
    await until(() => existsSync(file));
    await tunnel.stop();
    expect(existsSync(file)).toBe(false);
  });

  it('lets a connection wait for the daemon to come back, and says what happens', async () => {
    const first = await start();
    await using tunnel = await Tunnel.start(workspace, publish);
    await first.stop('SIGKILL');
    await tunnel.program.said('the tunnel is lost');
    const early = ask(port, '/');
    await using _second = await start();
    expect(await textOf(await early)).toBe('hello');
    const { code, stderr } = await tunnel.stop();
    expect(code).toBe(0);
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^wins: the tunnel is ready: port \d+ forwards to host port \d+$/),
      expect.stringMatching(/^wins: the tunnel is lost: .*\(is the daemon running\?\)$/),
      'wins: the tunnel is back',
      '',
    ]);
  });
});

/** Reports whether a loopback port has a listener. Reads the kernel's table, because a probe would connect. */
function accepts(port: number): boolean {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return ['tcp', 'tcp6'].some((table) =>
    new RegExp(`^ *\\d+: [0-9A-F]+:${hex} [0-9A-F:]+ 0A `, 'm').test(
      readFileSync(`/proc/net/${table}`, 'latin1'),
    ),
  );
}

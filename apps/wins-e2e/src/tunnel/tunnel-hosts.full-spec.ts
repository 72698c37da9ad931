import { spawnSync } from 'node:child_process';
import { startProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { connected } from '../testing/tunnel/published-port.js';
import { freePorts, HostProgram, textOf } from '../testing/tunnel/tunnel.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

const UNSHARE = '/usr/bin/unshare';
const itWithOwnName = wherePossible(
  it,
  spawnSync(UNSHARE, ['--uts', '/bin/true'], { stdio: 'ignore' }).status === 0,
  'a host with another name, which this user may not give it',
);

describe('a client on a host whose name is not ASCII', () => {
  itWithOwnName('is served, on both pipes', async () => {
    using workspace = new Workspace();
    const script = 'printf %s пк-1 >/proc/sys/kernel/hostname && exec "$@"';
    const named = (...args: string[]) =>
      startProgram(UNSHARE, ['--uts', '/bin/sh', '-c', script, 'sh', ...args], {
        ...workspace.environment,
      });
    const wins = (...args: string[]) => named(process.execPath, WINS, ...args);
    await using web = await HostProgram.tcp((socket) => socket.end('there'));
    const config = workspace.config([], { white_list: { proxyPorts: [web.port] } });
    await using daemon = await Daemon.start(workspace, config);
    expect(await wins('cli', 'app', 'info').outcome).toMatchObject({ code: 0, stderr: '' });
    const [port = 0] = await freePorts(1);
    const tunnel = wins('cli', 'proxy', '--publish', `TCP:${port}:${web.port}`);
    await tunnel.said('the tunnel is ready');
    const socket = await connected(port);
    expect(await textOf(socket.end())).toBe('there');
    tunnel.child.kill();
    expect((await tunnel.outcome).code).toBe(0);
    await daemon.logged((record) => JSON.stringify(record).includes('??-1'));
  });
});

function mayNameNetworks(): boolean {
  const action = (verb: string): boolean => {
    const args = ['netns', verb, `wins-${process.pid}-probe`];
    return spawnSync('/sbin/ip', args, { stdio: 'ignore' }).status === 0;
  };
  return action('add') && action('delete');
}

const itWithNetworks = wherePossible(
  it,
  mayNameNetworks(),
  'container and host as two networks, which this user may not make',
);

describe('container and host as two network namespaces', () => {
  itWithNetworks('have the host port in the container, and only through the tunnel', async () => {
    const names = ['host', 'container'].map((name) => `wins-${process.pid}-${name}`);
    const ip = (...args: string[]) => spawnSync('/sbin/ip', args, { encoding: 'utf8' });
    using workspace = new Workspace();
    try {
      for (const name of names) {
        const made = ip('netns', 'add', name);
        if (made.status !== 0) throw new Error(made.stderr);
        ip('-n', name, 'link', 'set', 'lo', 'up');
      }
      const [host = '', container = ''] = names;
      const inside = (name: string, ...args: string[]) =>
        startProgram(
          '/sbin/ip',
          ['netns', 'exec', name, process.execPath, ...args],
          workspace.environment,
        );
      const server = `require('node:http').createServer((_, response) => response.end('from the host'))
        .listen(9796, '127.0.0.1', () => console.log('up'))`;
      const client = `fetch('http://127.0.0.1:9796/', { headers: { connection: 'close' } })
        .then((answer) => answer.text()).then(console.log, () => console.log('unreachable'))`;
      const web = inside(host, '-e', server);
      await web.printed('up');
      expect((await inside(container, '-e', client).outcome).stdout.toString()).toBe(
        'unreachable\n',
      );
      const config = workspace.config([], { white_list: { proxyPorts: [9796] } });
      const daemon = inside(host, WINS, 'srv', 'app', 'run', '--config', config);
      await daemon.said('"msg":"ready"');
      const tunnel = inside(container, WINS, 'cli', 'proxy', '--publish', 'TCP:9796');
      await tunnel.said('the tunnel is ready');
      expect((await inside(container, '-e', client).outcome).stdout.toString()).toBe(
        'from the host\n',
      );
      for (const program of [tunnel, daemon, web]) {
        program.child.kill('SIGTERM');
        await program.outcome;
      }
    } finally {
      for (const name of names) ip('netns', 'del', name);
    }
  });
});

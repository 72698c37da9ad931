import { connect } from 'node:net';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { freeMetrics, scrape } from '../testing/scrape.js';
import { freePorts, HostProgram } from '../testing/tunnel/tunnel.js';
import { askUdp, freeUdpPort, UdpProgram } from '../testing/tunnel/udp.js';
import { Workspace } from '../testing/workspace.js';

interface PortStanding {
  readonly listen: string;
  readonly state: string;
  readonly detail: string;
}

const startTcp = (name: string) =>
  HostProgram.tcp((socket) => {
    let asked = '';
    socket.on('data', (chunk: Buffer) => (asked += chunk.toString()));
    socket.on('end', () => socket.end(name + asked));
  });

/** Returns the answer, or the error code of a failed connection. */
function ask(port: number, question: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.once('error', ({ code = '' }: NodeJS.ErrnoException) => resolve(code));
    socket.once('end', () => resolve(answer));
    socket.end(question);
  });
}

const port = (proto: 'tcp' | 'udp', listen: number, to: number, more: object = {}) => ({
  proto,
  listen: `127.0.0.1:${listen}`,
  to: `127.0.0.1:${to}`,
  allowHost: true,
  ...more,
});

describe('ports of the host', () => {
  let workspace: Workspace;
  beforeAll(() => (workspace = new Workspace()));
  afterAll(() => workspace[Symbol.dispose]());

  const wins = (...words: string[]) =>
    runWins(['srv', ...words, '--config', workspace.path('config')], workspace.environment);
  async function standings(): Promise<readonly PortStanding[]> {
    const { stdout, stderr } = await wins('network', 'status', '-o', 'json');
    if (stdout.length === 0) throw new Error(stderr);
    return (JSON.parse(stdout.toString()) as { ports: readonly PortStanding[] }).ports;
  }
  const states = async () => (await standings()).map(({ state }) => state);

  it('lead to containers, and each reports its state, even if it is busy or rejected', async () => {
    await using one = await startTcp('one ');
    const other = await startTcp('other ');
    await using busy = await startTcp('busy ');
    await using dns = await UdpProgram.start('dns ');
    const [web = 0] = await freePorts(1);
    const udp = await freeUdpPort();
    const { address, keys } = await freeMetrics();
    const configure = (...ports: object[]) =>
      workspace.config([], { ...keys, hostNetwork: { ports } });
    const rest = [
      port('udp', udp, dns.port),
      port('tcp', busy.port, one.port),
      port('tcp', 3389, one.port),
      port('tcp', 8080, one.port, { allowHost: false }),
    ];
    const file = configure(port('tcp', web, one.port), ...rest);
    await using daemon = await Daemon.start(workspace, file);
    await daemon.logged(({ state }) => state === 'busy');

    expect(await ask(web, 'question')).toBe('one question');
    expect((await askUdp(udp, 'question')).toString()).toBe('dns question');
    const wanted = ['listening', 'listening', 'busy', 'rejected', 'rejected'];
    expect(await states()).toEqual(wanted);
    const [, , found, reserved, host] = await standings();
    expect(found?.detail).toMatch(/another program listens there/);
    expect(reserved?.detail).toBe('port 3389 is reserved for services of the host');
    expect(host?.detail).toBe('127.0.0.1 is this host itself');
    const words = ['doctor', '--config', file];
    const doctor = await runWins(words, workspace.environment);
    expect(doctor.stdout.toString()).toMatch(/tcp 127\.0\.0\.1:\d+ is busy: .*another program/);
    const samples = await scrape(address);
    expect(samples.get('wins_host_ports{state="listening"}')).toBe(2);
    expect(samples.get('wins_host_ports{state="rejected"}')).toBe(2);

    configure(port('tcp', web, other.port), ...rest);
    expect((await wins('config', 'reload')).code).toBe(0);
    expect(await ask(web, '')).toBe('other ');
    // Once the container has stopped, connections are reset.
    await other[Symbol.asyncDispose]();
    expect(await ask(web, '')).toBe('ECONNRESET');

    expect((await wins('network', 'teardown')).code).toBe(0);
    expect(await states()).toEqual(['down', 'down', 'down', 'rejected', 'rejected']);
    expect(await ask(web, '')).toBe('ECONNREFUSED');
    // Three ports are busy or rejected.
    expect((await wins('network', 'apply')).code).toBe(1);
    expect((await askUdp(udp, 'again')).toString()).toBe('dns again');
    const audit = await wins('audit', 'show');
    expect(audit.stdout.toString()).toMatch(/hostNetworkChange +allowed +config +name="relay tcp/);
  });
});

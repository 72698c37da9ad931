import { Agent } from 'node:http';
import { Daemon, type LogRecord } from '../testing/daemon.js';
import { readPattern } from '../testing/tunnel/pattern.js';
import { answerPattern, sendPattern } from '../testing/tunnel/pattern-tunnel.js';
import { ask, connected } from '../testing/tunnel/published-port.js';
import { freePorts, HostProgram, textOf, Tunnel } from '../testing/tunnel/tunnel.js';
import { Workspace } from '../testing/workspace.js';

const KIB = 1024;
const MIB = 1024 * KIB;

describe('the tunnel', () => {
  let workspace: Workspace;
  let web: HostProgram;
  let daemon: Daemon;
  let tunnel: Tunnel;
  let port: number;

  beforeAll(async () => {
    workspace = new Workspace();
    web = await HostProgram.http(answerPattern);
    const proxyPorts = [web.port];
    daemon = await Daemon.start(workspace, workspace.config([], { white_list: { proxyPorts } }));
    [port = 0] = await freePorts(1);
    tunnel = await Tunnel.start(workspace, `TCP:${port}:${web.port}`);
  });
  afterAll(async () => {
    await tunnel[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
    await web[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it.each([0, 1, 64 * KIB, 10 * MIB, 32 * MIB])(
    'carries an answer of %i bytes unchanged',
    async (sizeBytes) => {
      expect(await readPattern(await ask(port, `/${sizeBytes}`))).toBe(sizeBytes);
    },
  );

  it.each([0, 1, 64 * KIB, 32 * MIB])('carries a request of %i bytes unchanged', async (size) => {
    expect(await sendPattern(port, size)).toBe(String(size));
  });

  it('keeps a connection for many requests', async () => {
    const before = web.connections;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let index = 0; index < 50; index += 1) {
      expect(await readPattern(await ask(port, `/${index}`, { agent }))).toBe(index);
    }
    agent.destroy();
    expect(web.connections).toBe(before + 1);
  });

  it('ends a connection of which the server says "Connection: close"', async () => {
    const socket = await connected(port);
    socket.write('GET /5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await textOf(socket)).toMatch(/connection: close[^]*\r\n\r\n[^]{5}$/i);
    socket.end();
  });

  it('carries many streams side by side', async () => {
    const sizes = Array.from({ length: 60 }, (_, index) => index * 50 * KIB);
    const read = await Promise.all(
      sizes.map(async (sizeBytes) => readPattern(await ask(port, `/${sizeBytes}`))),
    );
    expect(read).toEqual(sizes);
  });

  it('writes an audit record for each connection', async () => {
    const skip = daemon.log.length;
    const isRecord = ({ log, action }: LogRecord): boolean =>
      log === 'audit' && action === 'connect';
    // Retry: only ten connections a second get a record, and the previous test may have used these up.
    while (!daemon.log.slice(skip).some(isRecord)) await textOf(await ask(port, '/1'));
    const record = await daemon.logged(isRecord, skip);
    expect(record).toMatchObject({
      level: 'info',
      msg: `allowed to connect to port ${web.port}`,
      action: 'connect',
      verdict: 'allowed',
      requester: 'tunnel:1',
      rule: 'port-allowed',
      port: web.port,
    });
  });
});

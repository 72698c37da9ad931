import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { get } from 'node:http';
import path from 'node:path';
import type { RunningProgram } from '../testing/built-program.js';
import { Daemon, type LogRecord } from '../testing/daemon.js';
import { mayMakeContainer, startInContainer } from '../testing/other-container.js';
import { freePorts, HostProgram, textOf, Tunnel } from '../testing/tunnel/tunnel.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

const CLAIMED = 'system:node-admin (trusted)';
const programs = path.join(__dirname, '../fixtures/programs');
const inContainer = wherePossible(
  it,
  mayMakeContainer(),
  'clients in containers, since this user may make no mounts',
);

describe('a client that wants everything', () => {
  let workspace: Workspace;
  let daemon: Daemon;
  let web: HostProgram;
  let client: WinsClient;
  let address: string;
  let tunnelAddress: string;
  const hostile: RunningProgram[] = [];

  beforeEach(async () => {
    workspace = new Workspace();
    web = await HostProgram.http((_incoming, response) => response.end('served'));
    const hello = workspace.script('hello', 'echo hello');
    const white_list = { processPaths: [hello], proxyPorts: [web.port] };
    daemon = await Daemon.start(workspace, workspace.config([], { white_list }));
    const ready = await daemon.logged(({ msg }) => msg === 'ready');
    tunnelAddress = String(ready['tunnelAddress']);
    address = String(ready['address']);
    client = createWinsClient({ address, clientName: CLAIMED });
  });
  afterEach(async () => {
    for (const { child, outcome } of hostile.splice(0)) {
      child.kill('SIGKILL');
      await outcome;
    }
    await client.close();
    await daemon[Symbol.asyncDispose]();
    await web[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  async function play(name: string, says: string, ...args: (string | number)[]): Promise<void> {
    const program = startInContainer(
      [path.join(programs, name), ...args.map(String)],
      workspace.environment,
    );
    hostile.push(program);
    await program.printed(says);
  }
  async function fetchThroughTunnel(): Promise<string> {
    const [port = 0] = await freePorts(1);
    await using _tunnel = await Tunnel.start(workspace, `TCP:${port}:${web.port}`);
    return await new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, agent: false }, (answer) => {
        textOf(answer).then(resolve, reject);
      }).once('error', reject);
    });
  }
  const clientOf = (record: LogRecord) => record['client'] as Readonly<Record<string, unknown>>;
  const isConnect = (record: LogRecord): boolean => record['action'] === 'connect';

  it('floods Connects through four tunnels, and another client is served meanwhile; the log has their number (A48)', async () => {
    await play('connect-flood.cjs', 'flooding', tunnelAddress, 4, web.port);
    for (let call = 0; call < 20; call += 1) expect(await client.listProcesses()).toEqual([]);
    expect(await fetchThroughTunnel()).toBe('served');
    const counted = await daemon.logged(
      ({ rule, times }) => rule === 'connect-rate' && Number(times) > 1,
    );
    expect(counted).toMatchObject({ level: 'warn', verdict: 'refused', log: 'audit' });
    expect(clientOf(counted)).toMatchObject({ uid: process.getuid?.() });
  });

  it('keeps silent connections to the tunnel open, again and again, and a client gets in; the log says so (A49)', async () => {
    await play('silent-connections.cjs', 'silent', tunnelAddress, 16);
    expect(await fetchThroughTunnel()).toBe('served');
    await play('silent-connections.cjs', 'silent', tunnelAddress, 200);
    const away = await daemon.logged(({ msg }) => msg === 'connections were turned away');
    expect(away).toMatchObject({ pipe: 'tunnel', why: 'slow-greeting' });
    await daemon.logged((record) => record.msg === away.msg && Number(record['times']) > 1);
  });

  inContainer('loses its own connections, never those of another client (A49)', async () => {
    await play('silent-connections.cjs', 'silent', tunnelAddress, 200);
    for (let round = 0; round < 3; round += 1) expect(await fetchThroughTunnel()).toBe('served');
    const isTurnedAway = ({ msg }: LogRecord) => msg === 'connections were turned away';
    await daemon.logged(isTurnedAway);
    for (const record of daemon.log.filter(isTurnedAway))
      expect(clientOf(record)).toHaveProperty('container');
  });

  inContainer(
    'uses the processor as much as it can, and is not read until it has its share again; another client is served (A62)',
    async () => {
      const pauses = (): LogRecord[] =>
        daemon.log.filter(({ msg }) => msg.startsWith('a client was paused'));
      await play('long-names.cjs', 'decoding', address, 16);
      while (pauses().length === 0) expect(await client.listProcesses()).toEqual([]);
      for (let call = 0; call < 20; call += 1) expect(await client.listProcesses()).toEqual([]);
      expect(await fetchThroughTunnel()).toBe('served');
      for (const each of pauses()) expect(clientOf(each)).toHaveProperty('container');
    },
  );

  it('is recorded as what the system knows, beside the name that it gives itself (A60)', async () => {
    await client.startProcess({ Path: workspace.path('hello') }).catch(() => undefined);
    const start = await daemon.logged((record) => record['action'] === 'start');
    expect(clientOf(start)).toEqual({ pid: process.pid, uid: process.getuid?.() });
    await client.host.version().catch(() => undefined);
    const asked = await daemon.logged((record) => record['action'] === 'getVersion');
    expect(clientOf(asked)).toEqual({ pid: process.pid, uid: process.getuid?.() });
    await play('connect-flood.cjs', 'flooding', tunnelAddress, 1, web.port);
    const connected = await daemon.logged(isConnect);
    expect(clientOf(connected)).toMatchObject({ uid: process.getuid?.() });
    expect(JSON.stringify(clientOf(connected))).not.toContain('trusted');
    expect(JSON.stringify(connected)).toContain(CLAIMED);
  });

  inContainer(
    'runs nothing that an entry has for others, whatever it calls itself (A60)',
    async () => {
      const [host, contained] = [workspace.script('host', ''), workspace.script('contained', '')];
      workspace.config([
        { path: host, for: ['administrators', `user:${process.getuid?.()}`] },
        { path: contained, for: 'container:*' },
      ]);
      await daemon.logged(({ msg }) => msg === 'config changed');
      const run = (file: string) => {
        const command = [WINS, 'cli', 'prc', 'run', '--path', file];
        return startInContainer(command, workspace.environment).outcome;
      };
      const refused = await run(host);
      expect(refused).toMatchObject({ code: 126 });
      expect(refused.stderr).toMatch(/for "container:[^"]+": found no such name in its entry/);
      expect(await run(contained)).toMatchObject({ code: 0 });
      await expect(client.startProcess({ Path: contained })).rejects.toMatchObject({
        reason: 'callerNotAllowed',
      });
      const starts = () => daemon.log.filter((record) => record['action'] === 'start');
      // A client may have its answer before the record has come through the pipe of the log.
      await daemon.logged(() => starts().length === 3);
      expect(starts().map((record) => record['code'] ?? record['verdict'])).toEqual([
        ...['callerNotAllowed', 'allowed', 'callerNotAllowed'],
      ]);
    },
  );

  inContainer('is recorded with the container that it is in (A60)', async () => {
    hostile.push(
      startInContainer(
        [WINS, 'cli', 'prc', 'run', '--path', workspace.path('hello')],
        workspace.environment,
      ),
    );
    const start = await daemon.logged((record) => record['action'] === 'start');
    expect(clientOf(start)).toMatchObject({
      uid: process.getuid?.(),
      container: expect.stringMatching(/^(mounts:\d+|[0-9a-f]{64})$/) as string,
    });
  });
});

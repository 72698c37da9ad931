import { type LogRecord } from '../testing/daemon.js';
import { startInContainer } from '../testing/other-container.js';
import { WINS } from '../testing/workspace.js';
import { clientOf, CLAIMED, ContestedDaemon, whereContainersCanBe } from './contested-daemon.js';

const inContainer = whereContainersCanBe(it);

describe('a client that wants everything', () => {
  let world: ContestedDaemon;
  beforeEach(async () => {
    world = await ContestedDaemon.start();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  const isConnect = (record: LogRecord): boolean => record['action'] === 'connect';

  it('floods Connects through four tunnels, and another client is served meanwhile; the log has their number (A48)', async () => {
    await world.play('connect-flood.cjs', 'flooding', world.tunnelAddress, 4, world.web.port);
    for (let call = 0; call < 20; call += 1) expect(await world.client.runs.list()).toEqual([]);
    expect(await world.fetchThroughTunnel()).toBe('served');
    const counted = await world.daemon.logged(
      ({ rule, times }) => rule === 'connect-rate' && Number(times) > 1,
    );
    expect(counted).toMatchObject({ level: 'warn', verdict: 'refused', log: 'audit' });
    expect(clientOf(counted)).toMatchObject({ uid: process.getuid?.() });
  });

  it('reopens silent connections to the tunnel again and again, and another client gets in; the log says so (A49)', async () => {
    await world.play('silent-connections.cjs', 'silent', world.tunnelAddress, 16);
    expect(await world.fetchThroughTunnel()).toBe('served');
    await world.play('silent-connections.cjs', 'silent', world.tunnelAddress, 200);
    const away = await world.daemon.logged(({ msg }) => msg === 'connections were turned away');
    expect(away).toMatchObject({ pipe: 'tunnel', why: 'slow-greeting' });
    await world.daemon.logged((record) => record.msg === away.msg && Number(record['times']) > 1);
  });

  inContainer('loses its own connections, never those of another client (A49)', async () => {
    await world.play('silent-connections.cjs', 'silent', world.tunnelAddress, 200);
    for (let round = 0; round < 3; round += 1)
      expect(await world.fetchThroughTunnel()).toBe('served');
    const isTurnedAway = ({ msg }: LogRecord) => msg === 'connections were turned away';
    await world.daemon.logged(isTurnedAway);
    for (const record of world.daemon.log.filter(isTurnedAway))
      expect(clientOf(record)).toHaveProperty('container');
  });

  it('is recorded as the system identifies it, beside the name that it claims (A60)', async () => {
    await world.client
      .startProcess({ path: world.workspace.path('hello'), checksum: '' })
      .catch(() => undefined);
    const start = await world.daemon.logged((record) => record['action'] === 'start');
    expect(clientOf(start)).toEqual({ pid: process.pid, uid: process.getuid?.() });
    await world.client.host.version().catch(() => undefined);
    const asked = await world.daemon.logged((record) => record['action'] === 'getVersion');
    expect(clientOf(asked)).toEqual({ pid: process.pid, uid: process.getuid?.() });
    await world.play('connect-flood.cjs', 'flooding', world.tunnelAddress, 1, world.web.port);
    const connected = await world.daemon.logged(isConnect);
    expect(clientOf(connected)).toMatchObject({ uid: process.getuid?.() });
    expect(JSON.stringify(clientOf(connected))).not.toContain('trusted');
    expect(JSON.stringify(connected)).toContain(CLAIMED);
  });

  inContainer(
    'cannot run a program whose entry is for others, whatever name it claims (A60)',
    async () => {
      const [host, contained] = [
        world.workspace.script('host', ''),
        world.workspace.script('contained', ''),
      ];
      const processPaths = [
        { path: host, for: ['administrators', `user:${process.getuid?.()}`] },
        { path: contained, for: 'container:*' },
      ];
      const white_list = { processPaths, proxyPorts: [world.web.port] };
      world.workspace.config([], { white_list });
      await world.daemon.logged(({ msg }) => msg === 'config changed');
      const run = (file: string) => {
        const command = [WINS, 'cli', 'prc', 'run', '--path', file];
        return startInContainer(command, world.workspace.environment).outcome;
      };
      const refused = await run(host);
      expect(refused).toMatchObject({ code: 126 });
      expect(refused.stderr).toMatch(
        /for "container:[^"]+": this caller is not listed in "for" of the entry/,
      );
      expect(await run(contained)).toMatchObject({ code: 0 });
      await expect(
        world.client.startProcess({ path: contained, checksum: '' }),
      ).rejects.toMatchObject({
        reason: 'callerNotAllowed',
      });
      const starts = () => world.daemon.log.filter((record) => record['action'] === 'start');
      // A client may get its answer before this process gets the log line.
      await world.daemon.logged(() => starts().length === 3);
      expect(starts().map((record) => record['code'] ?? record['verdict'])).toEqual([
        'callerNotAllowed',
        'allowed',
        'callerNotAllowed',
      ]);
    },
  );

  inContainer('is recorded with the container that it is in (A60)', async () => {
    world.attack([WINS, 'cli', 'prc', 'run', '--path', world.workspace.path('hello')]);
    const start = await world.daemon.logged((record) => record['action'] === 'start');
    expect(clientOf(start)).toMatchObject({
      uid: process.getuid?.(),
      container: expect.stringMatching(/^(mounts:\d+|[0-9a-f]{64})$/) as string,
    });
  });
});

import { createWinsClient } from '@wins/wins-api';
import { healthServiceDefinition, HealthStatus } from '@wins/wins-api/contract';
import { type LogRecord } from '../testing/daemon.js';
import { WINS } from '../testing/workspace.js';
import { clientOf, ContestedDaemon, STAYING, whereContainersCanBe } from './contested-daemon.js';

const inContainer = whereContainersCanBe(it);

describe('a client that wants everything', () => {
  let world: ContestedDaemon;
  beforeEach(async () => {
    world = await ContestedDaemon.start();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  inContainer(
    'uses the processor as much as it can, and is not read until it has its share again; another client is served (A62)',
    async () => {
      const pauses = (): LogRecord[] =>
        world.daemon.log.filter(({ msg }) => msg.startsWith('a client was paused'));
      await world.play('long-names.cjs', 'decoding', world.address, 16);
      while (pauses().length === 0) expect(await world.client.runs.list()).toEqual([]);
      for (let call = 0; call < 20; call += 1) expect(await world.client.runs.list()).toEqual([]);
      expect(await world.fetchThroughTunnel()).toBe('served');
      for (const each of pauses()) expect(clientOf(each)).toHaveProperty('container');
    },
  );

  inContainer(
    'asks from three containers as fast as the daemon answers, and other clients are served (A62)',
    async () => {
      for (let container = 0; container < 3; container += 1)
        await world.play('many-infos.cjs', 'asking', world.address, 60);
      for (let call = 0; call < 20; call += 1) expect(await world.client.runs.list()).toEqual([]);
      expect(await world.fetchThroughTunnel()).toBe('served');
      expect(await world.runHello()).toBe('hello\n');
    },
  );

  inContainer(
    'attacks harder and harder from one container, and every start of others succeeds (A112)',
    async () => {
      const { address, tunnelAddress, web, workspace } = world;
      const attacks: (readonly [program: string, says: string, ...args: (string | number)[]])[] = [
        ['many-infos.cjs', 'asking', address, 60],
        ['unfinished-starts.cjs', 'unfinished', address, 250, 100_000],
        ...STAYING.map(
          (name) => ['unread-waits.cjs', 'waiting', address, workspace.path(name), 240] as const,
        ),
        ['silent-connections.cjs', 'silent', address, 250],
        ['held-calls.cjs', 'holding', address, 200],
        ['connect-flood.cjs', 'flooding', tunnelAddress, 4, web.port],
      ];
      for (const attack of attacks) {
        await world.play(...attack);
        expect(await world.runHello()).toBe('hello\n');
        expect(await world.runHelloOnHost()).toBe('hello\n');
      }
      expect(world.daemon.child.exitCode).toBeNull();
    },
  );

  inContainer(
    'follows output from three containers without reading it, and another one runs a program; the log says so (A112)',
    async () => {
      for (const name of STAYING) {
        const args = [world.address, world.workspace.path(name), 240];
        await world.play('unread-waits.cjs', 'waiting', ...args);
      }
      for (let run = 0; run < 3; run += 1) expect(await world.runHello()).toBe('hello\n');
      const held = await world.daemon.logged(({ resource }) => resource === 'waits');
      expect(held).toMatchObject({ level: 'warn', why: 'full' });
      expect(clientOf(held)).toHaveProperty('container');
    },
  );

  inContainer(
    'watches health and asks about the host from three containers without end, and others watch and are answered (A112)',
    async () => {
      for (let container = 0; container < 3; container += 1)
        await world.play('held-calls.cjs', 'holding', world.address, 200);
      for (let call = 0; call < 5; call += 1) {
        expect((await world.client.host.version()).currentBuildNumber).toBeDefined();
        const watch = world.client.stream(healthServiceDefinition.watch, { service: '' });
        for await (const { status } of watch) {
          expect(status).toBe(HealthStatus.SERVING);
          break;
        }
      }
      const held = await world.daemon.logged(({ resource }) => resource === 'watches');
      expect(clientOf(held)).toHaveProperty('container');
    },
  );

  inContainer(
    'hands its connections to another process and ends, and thereby gets less than another client (A49)',
    async () => {
      const { daemon } = world;
      // Freeze the daemon, so that the client's process has ended when the daemon looks for it.
      daemon.child.kill('SIGSTOP');
      await world.play('orphan-tunnels.cjs', 'connected', world.tunnelAddress, 16);
      daemon.child.kill('SIGCONT');
      await daemon.logged(({ why, times }) => why === 'client-limit' && Number(times) > 1);
      expect(await world.fetchThroughTunnel()).toBe('served');
      const opened = daemon.log.filter(({ msg }) => msg === 'tunnel opened').map(clientOf);
      expect(opened.filter(({ container }) => container === 'unknown')).toHaveLength(4);
    },
  );

  inContainer(
    'fills the memory for requests from three containers, and another one keeps its connection and run (A45)',
    async () => {
      const { daemon, workspace } = world;
      const [stay = ''] = STAYING;
      const run = world.attack([WINS, 'cli', 'prc', 'run', '--path', workspace.path(stay)]);
      await daemon.logged(({ action, verdict }) => action === 'start' && verdict === 'allowed');
      for (let container = 0; container < 3; container += 1)
        await world.play('unfinished-starts.cjs', 'unfinished', world.address, 60, 400_000);
      await daemon.logged(({ resource }) => resource === 'requestOctets');
      expect(await world.runHello()).toBe('hello\n');
      expect(run.child.exitCode).toBeNull();
    },
  );
});

describe('a client of a daemon with few descriptors', () => {
  inContainer(
    'has streams without end, and leaves descriptors for administrators, and streams for others (A112)',
    async () => {
      await using world = await ContestedDaemon.start(512);
      await world.play('connect-flood.cjs', 'flooding', world.tunnelAddress, 4, world.web.port);
      const held = await world.daemon.logged(({ resource }) => resource === 'streams');
      expect(clientOf(held)).toHaveProperty('container');
      for (let call = 0; call < 20; call += 1) {
        await using newcomer = createWinsClient({ address: world.address });
        expect(await newcomer.runs.list()).toEqual([]);
      }
      expect(await world.fetchThroughTunnel()).toBe('served');
      expect(await world.runHello()).toBe('hello\n');
    },
  );
});

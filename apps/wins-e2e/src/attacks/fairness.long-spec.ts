import { type LogRecord } from '../testing/daemon.js';
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
      while (pauses().length === 0) expect(await world.client.listProcesses()).toEqual([]);
      for (let call = 0; call < 20; call += 1)
        expect(await world.client.listProcesses()).toEqual([]);
      expect(await world.fetchThroughTunnel()).toBe('served');
      for (const each of pauses()) expect(clientOf(each)).toHaveProperty('container');
    },
  );

  inContainer(
    'asks from three containers as fast as the daemon answers, and other clients are served (A62)',
    async () => {
      for (let container = 0; container < 3; container += 1)
        await world.play('many-infos.cjs', 'asking', world.address, 60);
      for (let call = 0; call < 20; call += 1)
        expect(await world.client.listProcesses()).toEqual([]);
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
});

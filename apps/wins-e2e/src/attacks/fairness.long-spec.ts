import { type LogRecord } from '../testing/daemon.js';
import { clientOf, ContestedDaemon, whereContainersCanBe } from './contested-daemon.js';

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
});

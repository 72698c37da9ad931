import { crashAndJoin } from '../testing/node/crash-node.js';
import { startCluster, type Cluster } from '../testing/node/node-world.js';
import { numbersTo, sampleOf } from '../testing/sample.js';

/** Lines in the journal of a first installation. */
const LINES = 20;

describe('a command that was killed', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it.each(sampleOf([0, ...numbersTo(LINES - 1)], 4))(
    'at line %i of its journal is completed by the next command',
    async (line) => {
      await crashAndJoin(cluster, line);
    },
  );
});

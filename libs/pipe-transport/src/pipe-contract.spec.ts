import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectPipe } from './connect-pipe.js';
import { listenPipe } from './listen-pipe.js';
import { pipeContract } from './testing/index.js';

describe('a Unix socket under the contract of pipes', () => {
  let runtimeDir = '';
  let count = 0;

  beforeAll(async () => {
    runtimeDir = await mkdtemp(join(tmpdir(), 'wins-pipe-'));
  });

  afterAll(async () => {
    await rm(runtimeDir, { recursive: true });
  });

  const contract = pipeContract({
    listen: (name, options) => listenPipe(name, { runtimeDir, ...options }),
    connect: (name, options) => connectPipe(name, { runtimeDir, ...options }),
    freshName: () => `contract-${(count += 1)}`,
    halfClose: true,
    exclusiveNames: true,
  });

  test.each(contract)('%s', async (_name, check) => {
    await check();
  });
});

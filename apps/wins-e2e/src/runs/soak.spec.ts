import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { connect } from 'node:net';
import { readdirSync, readFileSync } from 'node:fs';
import { Daemon } from '../harness/daemon.js';
import { startRequest } from '../harness/digests.js';
import { memoryGrowth, memoryOver } from '../harness/process-memory.js';
import { until } from '../harness/process-table.js';
import { Workspace } from '../harness/workspace.js';

/** Six looks at the memory while caches and pools grow to their size, and six after that: ten thousand runs. */
const RUNS_PER_LOOK = 840;
const PROGRAMS = 8;
const MEGABYTE = 1024 * 1024;
/** Two minutes on a quiet machine of two cores; a bound for what hangs. */
const SOAK_TIMEOUT_MS = 600_000;

describe('a daemon after ten thousand short runs', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  let client: WinsClient;
  const programs = Array.from({ length: PROGRAMS }, (_, index) =>
    workspace.script(`short-${index}`, 'echo hi'),
  );

  beforeAll(async () => {
    daemon = await Daemon.start(workspace, workspace.config(programs));
    client = createWinsClient({ address: workspace.path('run', 'rancher_wins') });
  });
  afterAll(async () => {
    await client.close();
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const proc = (name: string) => `/proc/${daemon.child.pid ?? 0}/${name}`;
  const descriptors = () => readdirSync(proc('fd')).length;
  const children = () => readFileSync(proc(`task/${daemon.child.pid ?? 0}/children`), 'utf8');

  async function runOnce(request: ReturnType<typeof startRequest>): Promise<void> {
    const name = await client.startProcess(request);
    const lease = client.keepAlive(name);
    let output = '';
    for await (const { Options } of client.waitProcess(name)) {
      if (Options?.$case === 'StdOut') output += Options.value.toString();
    }
    await lease.end();
    if (output !== 'hi\n') throw new Error(`a run printed ${JSON.stringify(output)}`);
  }

  it('holds no descriptor after ten thousand connections that come and go', async () => {
    const address = workspace.path('run', 'rancher_wins');
    await client.info();
    const before = descriptors();
    for (let round = 0; round < 10_000; round += 100) {
      const sockets = Array.from({ length: 100 }, () => connect(address));
      await Promise.all(
        sockets.map((socket, index) => {
          const closed = new Promise((resolve) => socket.once('close', resolve));
          socket.on('error', () => undefined);
          socket.once('connect', () => (index % 2 === 0 ? socket.destroy() : socket.end('PRI')));
          socket.resume();
          return closed;
        }),
      );
    }
    await until(() => descriptors() <= before);
    expect((await client.info()).Version).toMatch(/^v/);
  });

  /** Runs each program again and again, all of them at the same time. */
  const run = (count: number): Promise<unknown> =>
    Promise.all(
      programs.map(async (program) => {
        const request = startRequest(program);
        for (let round = 0; round < count / PROGRAMS; round += 1) await runOnce(request);
      }),
    );

  it(
    'holds no more memory, descriptors, children or records than before',
    async () => {
      client = createWinsClient({ address: workspace.path('run', 'rancher_wins') });
      await client.info();
      const before = descriptors();
      const memory = () => memoryOver([daemon.child.pid], () => run(RUNS_PER_LOOK));
      const warm = await memory();
      const [growth] = memoryGrowth(warm, await memory());
      expect(growth).toBeLessThan(24 * MEGABYTE);
      expect(children()).toBe('');
      expect(readdirSync(workspace.path('run', 'rancher_wins.state'))).toEqual([]);
      await until(() => descriptors() <= before);
      expect(await client.listProcesses()).toEqual([]);
    },
    SOAK_TIMEOUT_MS,
  );
});

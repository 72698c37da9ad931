import { EVERYBODY, type ClientIdentity } from '@wins/base';
import {
  ProcessError,
  type ManagedProcess,
  type MeasuredRun,
  type ProcessManager,
} from '@wins/process-manager';
import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { runStatsDefinition } from '@wins/wins-api/contract';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { serveCalls } from '../../testing/serve-calls.js';
import { createRunStatsService } from './run-stats-service.js';

const OTHER: ClientIdentity = { ...CONTAINER, key: 'container:other' };
function measured(
  name: string,
  { key, description }: Pick<ClientIdentity, 'key' | 'description'>,
  isMeasured = true,
): MeasuredRun {
  const run = {
    name: `rancher-wins-${name}`,
    entry: `${name}.exe`,
    state: { kind: 'running' },
    startedAtMs: 1_700_000_000_000,
    owner: { id: 'pipe:99', client: { key, description: { ...description } } },
  } as unknown as ManagedProcess;
  const usage = { cpuMs: 1234.4, memoryBytes: 5_000_000_000, processes: 3 };
  const output = { stdoutBytes: 7, stderrBytes: 8, pauses: 9 };
  return { run, figures: { usage: isMeasured ? usage : undefined, output } };
}

describe('the service of figures', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-run-stats-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const runs = [
    measured('own', CONTAINER),
    measured('foreign', OTHER),
    measured('unmeasured', CONTAINER, false),
    measured('of-nobody', EVERYBODY),
  ];
  const manager: Pick<ProcessManager, 'find' | 'measure'> = {
    measure: () => Promise.resolve({ takenAtMs: 12.3456, runs }),
    find: ({ value }) => {
      const found = runs.find(({ run }) => run.name === value);
      if (found === undefined) throw new ProcessError('notFound', 'cannot find it');
      return found.run;
    },
  };

  let lastSocket = 0;
  async function as<T>(
    client: ClientIdentity,
    ask: (daemon: WinsClient) => Promise<T>,
    runsOfDaemon: ReturnType<Parameters<typeof createRunStatsService>[0]> = { manager },
  ) {
    lastSocket += 1;
    const address = path.join(folder, `socket-${lastSocket}`);
    await using _calls = await serveCalls(
      address,
      (server, connections) =>
        server.addService(
          runStatsDefinition,
          createRunStatsService(() => runsOfDaemon, connections),
        ),
      undefined,
      client,
    );
    await using daemon = createWinsClient({ address });
    return await ask(daemon);
  }
  const namesFor = async (client: ClientIdentity) =>
    (await as(client, (daemon) => daemon.measureRuns())).runs.map(({ name }) => name);

  it('shows a client its own runs, and an administrator all runs', async () => {
    const own = ['rancher-wins-own', 'rancher-wins-unmeasured'];
    expect(await namesFor(CONTAINER)).toEqual(own);
    expect(await namesFor(OTHER)).toEqual(['rancher-wins-foreign']);
    expect(await namesFor(ADMINISTRATOR)).toHaveLength(4);
  });

  it('shows no detached run of a client that had the same key before', async () => {
    const detached = { aboutProcess: () => undefined, processNamed: () => undefined };
    const ask = (daemon: WinsClient) => daemon.measureRuns();
    expect((await as(CONTAINER, ask, { manager, detached })).runs).toEqual([]);
  });

  it('treats clients that the system cannot identify as one, which sees no run of any other', async () => {
    expect(await namesFor(EVERYBODY)).toEqual(['rancher-wins-of-nobody']);
  });

  it('gives the figures of a run by its name, and says when there are none', async () => {
    const own = await as(CONTAINER, (daemon) => daemon.measureRuns('rancher-wins-own'));
    expect(own).toEqual({
      takenAtUs: 12_346,
      runs: [
        {
          name: 'rancher-wins-own',
          entry: 'own.exe',
          state: 'running',
          startedAt: new Date(1_700_000_000_000),
          usage: { cpuMs: 1234, memoryBytes: 5_000_000_000, processes: 3 },
          stdoutBytes: 7,
          stderrBytes: 8,
          outputPauses: 9,
          detachedName: '',
        },
      ],
    });
    const none = await as(CONTAINER, (daemon) => daemon.measureRuns('rancher-wins-unmeasured'));
    expect(none.runs[0]?.usage).toBeUndefined();
  });

  it.each(['rancher-wins-foreign', 'rancher-wins-none'])(
    'says of %s to another client that it is not there',
    async (name) => {
      await as(CONTAINER, (daemon) =>
        expect(daemon.measureRuns(name)).rejects.toMatchObject({ code: 'notFound' }),
      );
    },
  );
});

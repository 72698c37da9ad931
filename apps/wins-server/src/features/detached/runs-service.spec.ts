import { EVERYBODY, type ClientIdentity } from '@wins/base';
import {
  DetachedRuns,
  type ManagedProcess,
  type MeasuredRun,
  type ProcessManager,
} from '@wins/process-manager';
import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { RunOutput, runsDefinition } from '@wins/wins-api/contract';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { posixProcessHost } from '../../posix.js';
import { serveCalls } from '../../testing/serve-calls.js';
import type { Kernel } from '../../kernel/feature.js';
import { createRunsService } from './runs-service.js';

const OTHER: ClientIdentity = { ...CONTAINER, key: 'container:other' };
function measured(
  name: string,
  { key, description }: Pick<ClientIdentity, 'key' | 'description'>,
  { isMeasured = true, lifetime = 'connection' } = {},
): MeasuredRun {
  const run = {
    name: `rancher-wins-${name}`,
    mark: name,
    path: `/opt/${name}`,
    lifetime,
    state: { kind: 'running' },
    pid: 7,
    startedAtMs: 1_700_000_000_000,
    sha256: '',
    exposes: [],
    runId: 'a'.repeat(32),
    owner: { id: 'pipe:99', client: { key, description: { ...description } } },
  } as unknown as ManagedProcess;
  const usage = { cpuMs: 1234.4, memoryBytes: 5_000_000_000, processes: 3 };
  const output = { stdoutBytes: 7, stderrBytes: 8, pauses: 9 };
  return { run, figures: { usage: isMeasured ? usage : undefined, output } };
}

describe('the service of runs', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-runs-service-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const runs = [
    measured('own', CONTAINER),
    measured('foreign', OTHER),
    measured('unmeasured', CONTAINER, { isMeasured: false }),
    measured('of-nobody', EVERYBODY),
    // Of a client that had the same key before: no run of this client's list is its.
    measured('kept', CONTAINER, { lifetime: 'detached' }),
  ];
  const manager = {
    measure: () => Promise.resolve({ takenAtMs: 12.3456, runs }),
    list: () => runs.map(({ run }) => run),
    start: () => new Promise(() => undefined),
  } as unknown as ProcessManager;
  const never = () => Promise.reject(new Error('no keeper is wanted'));
  const detached = new DetachedRuns(manager, {
    stateDirectory: folder,
    host: posixProcessHost(),
    keepers: { release: '1', start: never, transport: { connect: never, listen: never } },
  });

  let lastSocket = 0;
  async function as<T>(
    client: ClientIdentity,
    ask: (daemon: WinsClient) => Promise<T>,
    kept: DetachedRuns = detached,
  ) {
    lastSocket += 1;
    const address = path.join(folder, `socket-${lastSocket}`);
    const audit = { decided: () => undefined };
    const kernel = { audit, resources: {}, pipe: {} } as unknown as Kernel;
    await using _calls = await serveCalls(
      address,
      (server, connections) =>
        server.addService(
          runsDefinition,
          createRunsService(() => ({ manager, detached: kept }), connections, kernel),
        ),
      undefined,
      client,
    );
    await using daemon = createWinsClient({ address });
    return await ask(daemon);
  }
  const namesOf = (found: readonly { readonly name: string }[]) => found.map(({ name }) => name);
  const listedFor = async (client: ClientIdentity) =>
    namesOf(await as(client, (daemon) => daemon.runs.list({ all: true })));
  const measuredFor = async (client: ClientIdentity) =>
    namesOf((await as(client, (daemon) => daemon.runs.measure())).runs);

  it('lists the runs of all clients, but detached ones of others to an administrator alone', async () => {
    const all = [
      'rancher-wins-own',
      'rancher-wins-foreign',
      'rancher-wins-unmeasured',
      'rancher-wins-of-nobody',
    ];
    expect(await listedFor(CONTAINER)).toEqual(all);
    expect(await listedFor(OTHER)).toEqual(all);
    expect(await listedFor(EVERYBODY)).toEqual(all);
    expect(await listedFor(ADMINISTRATOR)).toEqual([...all, 'rancher-wins-kept']);
  });

  it('tells neither ids nor figures where it lists runs of others', async () => {
    const request = { all: true, measured: true, name: '' };
    const { runs: found } = await as(CONTAINER, (daemon) =>
      daemon.call(runsDefinition.list, request),
    );
    expect(found.flatMap(({ runId }) => runId ?? [])).toEqual([]);
    const withFigures = found.filter(({ figures }) => figures !== undefined);
    expect(namesOf(withFigures)).toEqual(['rancher-wins-own', 'rancher-wins-unmeasured']);
    const listed = await as(ADMINISTRATOR, (daemon) => daemon.runs.list());
    expect(listed.flatMap(({ figures }) => figures ?? [])).toEqual([]);
  });

  it('measures for a client its own runs, and for an administrator all runs', async () => {
    const own = ['rancher-wins-own', 'rancher-wins-unmeasured'];
    expect(await measuredFor(CONTAINER)).toEqual(own);
    expect(await measuredFor(OTHER)).toEqual(['rancher-wins-foreign']);
    expect(await measuredFor(ADMINISTRATOR)).toHaveLength(5);
  });

  it('treats clients that the system cannot identify as one, whose figures are of no run of any other', async () => {
    expect(await measuredFor(EVERYBODY)).toEqual(['rancher-wins-of-nobody']);
  });

  it('gives the figures of a run by its name, and says when there are none', async () => {
    const own = await as(CONTAINER, (daemon) => daemon.runs.measure('rancher-wins-own'));
    expect(own).toEqual({
      takenAtUs: 12_346,
      runs: [
        {
          name: 'rancher-wins-own',
          process: 'rancher-wins-own',
          lifetime: 'connection',
          state: 'running',
          path: '/opt/own',
          pid: 7,
          startedAtMs: 1_700_000_000_000,
          sha256: '',
          exposes: [],
          restarts: 0,
          figures: {
            usage: { cpuMs: 1234, memoryBytes: 5_000_000_000, processes: 3 },
            stdoutBytes: 7,
            stderrBytes: 8,
            pauses: 9,
          },
        },
      ],
    });
    const none = await as(CONTAINER, (daemon) => daemon.runs.measure('rancher-wins-unmeasured'));
    expect(none.runs[0]?.figures.usage).toBeUndefined();
  });

  it.each(['rancher-wins-foreign', 'rancher-wins-kept', 'rancher-wins-none'])(
    'says of %s to another client that it is not there',
    async (name) => {
      await as(CONTAINER, async ({ runs: all }) => {
        for (const asked of [all.measure(name), all.inspect(name)])
          await expect(asked).rejects.toMatchObject({ code: 'notFound' });
      });
    },
  );

  it('closes the reader of an output whose beginning cannot be found', async () => {
    let closes = 0;
    const reader = {
      begin: () => Promise.reject(new Error('a file of the output is a link')),
      close: () => (closes += 1),
      [Symbol.dispose]: () => (closes += 1),
    };
    const kept = { label: 'own', facts: { run: { mark: 'm', path: '/opt/own', name: 'own' } } };
    const own = { find: () => kept, read: () => reader } as unknown as DetachedRuns;
    const request = {
      name: 'own',
      offset: 0,
      sinceMs: 0,
      tailLines: 5,
      follow: false,
      only: RunOutput.BOTH,
    };
    const read = async (daemon: WinsClient): Promise<void> => {
      for await (const _part of daemon.stream(runsDefinition.read, request));
    };
    await expect(as(CONTAINER, read, own)).rejects.toThrow('is a link');
    expect(closes).toBe(1);
  });

  it('tells no time, PID and digest of a run before its first start', async () => {
    const by = { client: CONTAINER, requester: 'pipe:1' };
    void detached.start({ path: '/opt/new', args: [], envs: [] }, { name: 'new', by });
    const all = await as(CONTAINER, (daemon) => daemon.runs.list({ all: true }));
    const unknown = { pid: 0, startedAtMs: 0, sha256: '' };
    expect(all.at(-1)).toMatchObject({ name: 'new', state: 'starting', ...unknown });
  });
});

import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { runsDefinition, RunOutput } from '@wins/wins-api/contract';
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { residentBytes } from '../testing/process-memory.js';
import { until } from '../testing/process-table.js';
import { CountedRuns } from '../runs/counted-runs.js';

const MIB = 1024 * 1024;
const TICK_MS = 10;

describe('a client that reads the output of its runs', () => {
  let runs: CountedRuns;
  let address: string;
  const clients: WinsClient[] = [];
  beforeAll(async () => {
    runs = await CountedRuns.start();
    const lines = runs.workspace.script(
      'lines',
      'exec head -c 70000000 /dev/zero | tr "\\\\0" "\\\\n"',
    );
    const zeros = runs.workspace.script('zeros', 'exec head -c 60000000 /dev/zero');
    const detached = { allow: true };
    runs.workspace.config([
      { path: lines, detached },
      { path: zeros, detached },
    ]);
    await runs.stopDaemon();
    await runs.startDaemon();
    ({ address } = (await runs.daemon.logged(({ msg }) => msg === 'ready')) as unknown as {
      address: string;
    });
    for (const [name, path] of [
      ['lines', lines],
      ['zeros', zeros],
    ] as const) {
      expect((await runs.prc('run', '-d', '--name', name, '--path', path)).code).toBe(0);
      expect((await runs.prc('wait', name)).code).toBe(0);
    }
  });
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
  afterAll(() => runs[Symbol.asyncDispose]());

  function connect(): WinsClient {
    const client = createWinsClient({ address });
    clients.push(client);
    return client;
  }
  const processorMs = (): number => {
    const stat = readFileSync(`/proc/${runs.daemon.child.pid ?? 0}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  };
  const read = (client: WinsClient, name: string, more: object, signal?: AbortSignal) =>
    client
      .stream(
        runsDefinition.read,
        {
          name,
          offset: 0,
          sinceMs: 0,
          follow: true,
          only: RunOutput.BOTH,
          ...more,
        },
        signal && { signal },
      )
      [Symbol.asyncIterator]();

  it('pays little for a tail of line ends, and nothing once it has left (A165)', async () => {
    const client = connect();
    const before = processorMs();
    const tail = read(client, 'lines', { tailLines: 4_000_000_000 });
    expect((await tail.next()).value).toMatchObject({ options: undefined });
    await tail.return?.();
    expect(processorMs() - before).toBeLessThan(1500);
    const gone = new AbortController();
    setMaxListeners(0, gone.signal);
    const tails = Array.from({ length: 64 }, () =>
      read(client, 'lines', { tailLines: 4_000_000_000 }, gone.signal)
        .next()
        .catch(() => undefined),
    );
    await delay(100);
    // Another client is served meanwhile.
    await connect().runs.list({ all: true });
    gone.abort();
    await Promise.all(tails);
    await connect().runs.list({ all: true });
    const left = processorMs();
    await delay(2000);
    expect(processorMs() - left).toBeLessThan(500);
  });

  it('makes the daemon hold about one piece of output for each call that takes nothing (A166)', async () => {
    const { pid } = runs.daemon.child;
    const before = residentBytes(pid);
    for (let count = 0; count < 120; count += 1) await read(connect(), 'zeros', {}).next();
    // The daemon gives collected memory back after a while.
    await until(() => residentBytes(pid) - before < 60 * MIB);
    const { length } = clients;
    expect(length).toBe(120);
  });
});

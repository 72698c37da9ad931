import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { Daemon } from '../testing/daemon.js';
import { markOf } from '../testing/mark-of.js';
import { startRequest } from '../testing/digests.js';
import { memoryGrowth, memoryOver } from '../testing/process-memory.js';
import { until } from '../testing/process-table.js';
import { Workspace } from '../testing/workspace.js';

const MEGABYTE = 1024 * 1024;

describe('a daemon whose clients read slowly', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  let client: WinsClient;
  const flood = workspace.script('flood', 'head -c "$1" /dev/zero; echo done >&2');
  const quick = workspace.script('quick', 'echo quick');

  const run = async (program: string, ...args: string[]) => {
    const name = await client.startProcess(startRequest(program, args));
    return { name, lease: client.keepAlive(name) };
  };

  beforeAll(async () => {
    daemon = await Daemon.start(workspace, workspace.config([flood, quick]));
    const { address } = (await daemon.logged(({ msg }) => msg === 'ready')) as unknown as {
      address: string;
    };
    client = createWinsClient({ address });
  });
  afterAll(async () => {
    await client.close();
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it('stays small with a hundred listeners that never read, and others are served', async () => {
    const { name, lease } = await run(flood, String(1024 * MEGABYTE));
    const others = async (): Promise<void> => {
      const other = await run(quick);
      let output = '';
      for await (const { options } of client.waitProcess(other.name)) {
        if (options?.$case === 'stdOut') output += options.value.toString();
      }
      await other.lease.end();
      expect(output).toBe('quick\n');
    };
    const before = await memoryOver([daemon.child.pid], others);
    const listeners = Array.from({ length: 100 }, () =>
      client.waitProcess(name)[Symbol.asyncIterator](),
    );
    await Promise.all(listeners.map((listener) => listener.next()));
    // The program writes 1 GiB, but the daemon holds only the shared log and one message for each listener.
    const [growth] = memoryGrowth(before, await memoryOver([daemon.child.pid], others));
    expect(growth).toBeLessThan(128 * MEGABYTE);
    await lease.end();
    for (const listener of listeners) await listener.return?.();
  });

  it('never blocks a program that nobody listens to, and tells a late listener what it missed', async () => {
    const { name, lease } = await run(flood, String(64 * MEGABYTE));
    const mark = markOf(name.runId);
    await until(() =>
      daemon.log.some((record) => record['mark'] === mark && record['type'] === 'ended'),
    );
    let kept = 0;
    let skipped = 0;
    let exit: unknown;
    for await (const { options } of client.waitProcess(name)) {
      if (options?.$case === 'stdOut') kept += options.value.length;
      if (options?.$case === 'skipped') skipped += options.value.bytes;
      if (options?.$case === 'exit') exit = options.value;
    }
    expect(kept + skipped).toBe(64 * MEGABYTE);
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThanOrEqual(2 * MEGABYTE);
    expect(exit).toMatchObject({ exitCode: 0, reason: 'exited' });
    await lease.end();
  });
});

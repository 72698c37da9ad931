import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { ManagedProcess } from './managed-process.js';
import type { ProcessManager } from '../process-manager.js';
import {
  codeOf,
  ManagerHarness,
  requestFor,
  TestOwner,
  untilOutput,
} from '../testing/manager-harness.js';
import type { TestProgram } from '../testing/index.js';

/** Prints `ready`; after SIGTERM it ends only when the file `hold` is gone. */
const POLITE = `trap 'while [ -e hold ]; do sleep 0.01; done; exit 5' TERM; echo ready; while :; do sleep 0.01; done`;

describe('a start that replaces', () => {
  let harness: ManagerHarness;
  let program: TestProgram;
  let manager: ProcessManager;
  beforeEach(() => {
    harness = new ManagerHarness();
    program = harness.program('tool', POLITE);
    manager = harness.manager(['tool']);
  });
  afterEach(() => harness.close());

  const start = (owner: TestOwner, more: object = { replace: true }): Promise<ManagedProcess> =>
    manager.start(requestFor(program, { owner, ...more }));
  const ready = async (run: ManagedProcess): Promise<ManagedProcess> => {
    await untilOutput(run.read(run.owner.id), 'ready');
    return run;
  };

  it('asks the run of the same program to end, waits for it, and then takes the name', async () => {
    const first = await ready(await start(new TestOwner('pipe:1')));
    const second = await ready(await start(new TestOwner('pipe:2')));
    expect(await first.ended).toEqual({ code: 5, reason: 'replaced' });
    expect(second.state.kind).toBe('running');
    expect(manager.find({ value: 'rancher-wins-tool' })).toBe(second);
    const stop = { action: 'stop', verdict: 'allowed', requester: 'pipe:2', mark: first.mark };
    expect(harness.decisions).toContainEqual(expect.objectContaining(stop));
  });

  it('wins over one that waits, which is told so, when it is the newer', async () => {
    harness.program('hold', '');
    const first = await ready(await start(new TestOwner('pipe:1')));
    const second = start(new TestOwner('pipe:2'));
    const gaveUp = expect(second).rejects.toMatchObject({
      code: 'alreadyRunning',
      message: expect.stringContaining('a newer start replaced it') as string,
    });
    while (first.state.kind === 'running') await new Promise(setImmediate);
    const third = start(new TestOwner('pipe:3'));
    // The second start gives up before the first run has ended.
    await gaveUp;
    expect(first.state.kind).toBe('stopping');
    rmSync(path.join(harness.programs, 'hold'));
    expect((await third).owner.id).toBe('pipe:3');
    expect(await first.ended).toMatchObject({ reason: 'replaced' });
  });

  it('leaves only the newest run when many replace at once', async () => {
    const owners = Array.from({ length: 8 }, (_, index) => new TestOwner(`pipe:${index}`));
    const settled = await Promise.allSettled(owners.map((owner) => start(owner)));
    const runs = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const living = manager.list().filter(({ state }) => state.kind === 'running');
    expect(living.map(({ owner }) => owner.id)).toEqual(['pipe:7']);
    for (const run of runs)
      if (run !== living[0]) expect(await run.ended).toMatchObject({ reason: 'replaced' });
    for (const each of settled)
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'alreadyRunning' });
  });

  it('ends nothing for a client with a wrong checksum, nor the run of another program of that name', async () => {
    mkdirSync(path.join(harness.programs, 'other'));
    const other = harness.program('other/tool', 'exit 0');
    manager = harness.manager(['tool', 'other/tool']);
    const first = await ready(await start(new TestOwner('pipe:1')));
    const wrong = start(new TestOwner('pipe:2'), { replace: true, sha256: '0'.repeat(64) });
    expect(await codeOf(wrong)).toBe('checksumMismatch');
    const foreign = manager.start(requestFor(other, { replace: true }));
    expect(await codeOf(foreign)).toBe('alreadyRunning');
    expect(first.state.kind).toBe('running');
  });

  it('gives up when its client goes away while it waits', async () => {
    harness.program('hold', '');
    const first = await ready(await start(new TestOwner('pipe:1')));
    const owner = new TestOwner('pipe:2');
    const second = codeOf(start(owner));
    while (first.state.kind === 'running') await new Promise(setImmediate);
    owner.disconnect();
    expect(await second).toBe('aborted');
    expect([first.state.kind, existsSync(first.stagedPath)]).toEqual(['stopping', true]);
    await first.stop('pipe:1', { force: true });
  });
});

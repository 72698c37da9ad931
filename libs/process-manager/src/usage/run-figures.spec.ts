import type { ManagedProcess, RunFigures } from '../supervision/managed-process.js';
import { ManagerHarness, outputOf, requestFor, untilOutput } from '../testing/manager-harness.js';

describe('the figures of a run', () => {
  let harness: ManagerHarness;

  beforeEach(() => {
    harness = new ManagerHarness();
  });

  afterEach(() => harness.close());

  it('count what it writes on each stream, and stay as they were at its end', async () => {
    const program = harness.program('tool', 'printf 12345; printf 123 >&2');
    const run = await harness.manager(['tool']).start(requestFor(program));
    await outputOf(run);
    await run.ended;
    const figures = await run.measure();
    expect(figures.output).toEqual({ stdoutBytes: 5, stderrBytes: 3, pauses: 0 });
    expect(figures.usage).toMatchObject({ memoryBytes: 0, processes: 0 });
    expect(harness.events).toContainEqual(
      expect.objectContaining({ type: 'ended', path: program.path, entry: 'tool', figures }),
    );
  });

  it('count how often it waits for a reader that lags', async () => {
    const program = harness.nodeProgram('tool', 'process.stdout.write("x".repeat(6_000_000))');
    const manager = harness.manager(['tool']);
    const run = await manager.start(requestFor(program));
    const reader = run.read(run.owner.id);
    const found = await until(run, ({ output }) => output.pauses > 0);
    expect(found.output.stdoutBytes).toBeGreaterThanOrEqual(1024 * 1024);
    expect(found.output.stdoutBytes).toBeLessThan(6_000_000);
    for await (const _chunk of reader);
    expect((await run.measure()).output.stdoutBytes).toBe(6_000_000);
  });

  it('are those of the whole tree', async () => {
    const program = harness.program('tool', 'sleep 1000 & sleep 1000 & echo ready; wait');
    const run = await harness.manager(['tool']).start(requestFor(program));
    await untilOutput(run.read(run.owner.id), 'ready');
    const { usage } = await run.measure();
    expect(usage?.processes).toBe(3);
    expect(usage?.memoryBytes).toBeGreaterThan(100_000);
  });

  it('are measured for all runs that live, once for all who ask', async () => {
    const manager = harness.manager(['one', 'two']);
    const [one, two] = ['one', 'two'].map((name) =>
      harness.program(name, name === 'one' ? 'echo done' : 'echo ready; exec sleep 1000'),
    );
    if (one === undefined || two === undefined) throw new Error('no program');
    await (
      await manager.start(requestFor(one))
    ).ended;
    const run = await manager.start(requestFor(two));
    await untilOutput(run.read(run.owner.id), 'ready');
    const [first, second] = await Promise.all([manager.measure(), manager.measure()]);
    expect(second).toBe(first);
    expect(first.runs.map((each) => each.run)).toEqual([run]);
    expect(first.runs[0]?.figures.output.stdoutBytes).toBe(6);
  });
});

async function until(
  run: ManagedProcess,
  isThere: (figures: RunFigures) => boolean,
): Promise<RunFigures> {
  for (;;) {
    const figures = await run.measure();
    if (isThere(figures)) return figures;
  }
}

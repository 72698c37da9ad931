import type { ExposedPort, PortOpener } from '@wins/base';
import type { DecisionRecord } from './decision-record.js';
import {
  codeOf,
  isRunning,
  ManagerHarness,
  outputOf,
  requestFor,
  TestOwner,
} from '../testing/manager-harness.js';

const FOREVER = 'exec sleep 1000';
const exposes: readonly ExposedPort[] = [
  { protocol: 'tcp', port: 80 },
  { protocol: 'udp', port: 53 },
];

class RecordingOpener implements PortOpener {
  readonly steps: string[] = [];
  onOpen: (signal: AbortSignal) => unknown = () => undefined;
  onClose: (mark: string) => unknown = () => undefined;

  async open(
    mark: string,
    ports: readonly ExposedPort[],
    { signal }: { readonly signal: AbortSignal },
  ): Promise<void> {
    this.steps.push(
      `open ${mark} ${ports.map(({ protocol, port }) => `${protocol}${port}`).join()}`,
    );
    await this.onOpen(signal);
  }

  async close(mark: string): Promise<void> {
    this.steps.push(`close ${mark}`);
    await this.onClose(mark);
  }
}

describe('the ports that a run exposes', () => {
  let harness: ManagerHarness;
  let opener: RecordingOpener;

  beforeEach(() => {
    harness = new ManagerHarness();
    opener = new RecordingOpener();
  });

  afterEach(() => harness.close());

  it('are not opened where nothing stands in their way, and the record and an event say so', async () => {
    const program = harness.program('tool', FOREVER);
    const records: DecisionRecord[] = [];
    const why = 'the firewall is off in every profile';
    const manager = harness.manager(['tool'], {
      portOpener: Object.assign(opener, { whyNotNeeded: () => why }),
      onDecision: (record) => void records.push(record),
    });
    const run = await manager.start(requestFor(program, { exposes }));
    expect(run.ports).toEqual({ kind: 'notNeeded', why });
    await run.stop('pipe:1');
    await manager.close();
    expect(opener.steps).toEqual([]);
    expect(records[0]).toMatchObject({
      action: 'start',
      verdict: 'allowed',
      exposes: ['tcp 80', 'udp 53'],
      ports: 'notNeeded',
      portsReason: why,
    });
    expect(harness.events).toContainEqual(
      expect.objectContaining({ type: 'portsNotOpened', mark: run.mark, why }),
    );
  });

  it('are recorded as what they are: opened, or left as the host has them', async () => {
    const program = harness.program('tool', 'exit 0');
    const records: DecisionRecord[] = [];
    const onDecision = (record: DecisionRecord) => void records.push(record);
    for (const portOpener of [opener, undefined]) {
      const manager = harness.manager(['tool'], { ...(portOpener && { portOpener }), onDecision });
      await (
        await manager.start(requestFor(program, { exposes }))
      ).ended;
      await manager.close();
    }
    const ports = records.filter(({ action }) => action === 'start').map((record) => record.ports);
    expect(ports).toEqual(['opened', 'asTheHostHasThem']);
  });

  it('are open before the program starts, and closed after its tree is gone', async () => {
    const program = harness.program('tool', FOREVER);
    const manager = harness.manager(['tool'], { portOpener: opener });
    opener.onOpen = () => expect(manager.list()).toEqual([]);
    const run = await manager.start(requestFor(program, { exposes }));
    expect(opener.steps).toEqual([`open ${run.mark} tcp80,udp53`]);

    let alive: boolean | undefined;
    opener.onClose = () => (alive = isRunning(run.pid));
    await run.stop('pipe:1');
    await manager.close();
    expect(opener.steps.slice(1)).toEqual([`close ${run.mark}`]);
    expect(alive).toBe(false);
  });

  it('are nothing to anybody for a run that exposes none', async () => {
    const manager = harness.manager(['tool'], { portOpener: opener });
    const run = await manager.start(requestFor(harness.program('tool', 'exit 0')));
    await run.ended;
    await manager.close();
    expect(opener.steps).toEqual([]);
  });

  it('are noted and no more where there is nobody to open them', async () => {
    const manager = harness.manager(['tool']);
    const run = await manager.start(requestFor(harness.program('tool', 'echo hi'), { exposes }));
    expect(run.exposes).toEqual(exposes);
    await expect(outputOf(run)).resolves.toMatchObject({ stdout: 'hi\n' });
  });

  it('refuse the start when they cannot be opened, and are closed as far as they were', async () => {
    const program = harness.program('tool', FOREVER);
    const manager = harness.manager(['tool'], { portOpener: opener });
    opener.onOpen = () => Promise.reject(new Error('policy forbids it'));
    await expect(manager.start(requestFor(program, { exposes }))).rejects.toMatchObject({
      code: 'portsNotOpened',
      message: 'cannot open tcp 80, udp 53: policy forbids it',
    });
    await manager.close();
    expect(opener.steps).toEqual([
      expect.stringMatching(/^open/),
      opener.steps[0]?.replace(/open (\w+) .*/, 'close $1'),
    ]);
    expect(harness.events.map(({ type }) => type)).toEqual(['startFailed']);
  });

  it('are closed when the program does not start', async () => {
    const program = harness.program('tool', FOREVER, '/');
    const manager = harness.manager(['tool'], { portOpener: opener });
    const start = manager.start(requestFor(program, { exposes }));
    await expect(codeOf(start)).resolves.toBe('spawnFailed');
    await manager.close();
    expect(opener.steps).toEqual([expect.stringMatching(/^open/), expect.stringMatching(/^close/)]);
  });

  it.each([
    ['its client is gone', 'aborted', (owner: TestOwner) => owner.disconnect()],
    [
      'the manager closes',
      'shuttingDown',
      (_owner: TestOwner, close: () => unknown) => void close(),
    ],
  ])('are given up while they open when %s', async (_when, code, giveUp) => {
    const program = harness.program('tool', FOREVER);
    const manager = harness.manager(['tool'], { portOpener: opener });
    const owner = new TestOwner();
    opener.onOpen = (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('ended netsh')));
        giveUp(owner, () => manager.close());
      });
    const start = manager.start(requestFor(program, { exposes, owner }));
    await expect(codeOf(start)).resolves.toBe(code);
    await manager.close();
    expect(opener.steps).toHaveLength(2);
  });

  it('are closed again, and nothing starts, when they open after the client is gone', async () => {
    const program = harness.program('tool', FOREVER);
    const manager = harness.manager(['tool'], { portOpener: opener });
    const owner = new TestOwner();
    opener.onOpen = () => owner.disconnect();
    const start = manager.start(requestFor(program, { exposes, owner }));
    await expect(codeOf(start)).resolves.toBe('aborted');
    await manager.close();
    expect(harness.events.map(({ type }) => type)).toEqual(['startFailed']);
    expect(opener.steps).toHaveLength(2);
  });

  it('never delay the end of a run nor the next start', async () => {
    const program = harness.program('tool', 'exit 5');
    const manager = harness.manager(['tool'], { portOpener: opener });
    let finish: () => void = () => undefined;
    opener.onClose = () => new Promise<void>((resolve) => (finish = resolve));
    const first = await manager.start(requestFor(program, { exposes }));
    await expect(first.ended).resolves.toMatchObject({ code: 5 });
    opener.onClose = () => undefined;
    const second = await manager.start(requestFor(program, { exposes }));
    await expect(second.ended).resolves.toMatchObject({ code: 5 });
    expect(opener.steps).not.toContain(`close ${second.mark}`);
    finish();
    await manager.close();
    expect(opener.steps.slice(-2)).toEqual([
      `open ${second.mark} tcp80,udp53`,
      `close ${second.mark}`,
    ]);
  });

  it('never keep the manager from closing, however long they take', async () => {
    const program = harness.program('tool', FOREVER);
    const manager = harness.manager(['tool'], { portOpener: opener, graceMs: 50 });
    opener.onClose = () => new Promise(() => undefined);
    const run = await manager.start(requestFor(program, { exposes }));
    await manager.close();
    expect(opener.steps.at(-1)).toBe(`close ${run.mark}`);
    expect(manager.list()).toEqual([]);
  });

  it('that could not be closed are tried again with the next ones, and when the manager closes', async () => {
    const program = harness.program('tool', 'exit 0');
    const manager = harness.manager(['tool'], { portOpener: opener });
    opener.onClose = () => Promise.reject(new Error('busy'));
    const runOnce = async () => {
      const run = await manager.start(requestFor(program, { exposes }));
      await run.ended;
      return run.mark;
    };
    const first = await runOnce();
    const second = await runOnce();
    opener.onClose = (mark) => (mark === first ? Promise.reject(new Error('busy')) : undefined);
    const third = await runOnce();
    await manager.close();

    const closed = opener.steps.filter((step) => step.startsWith('close'));
    expect(closed).toEqual(
      [first, second, third, first, second, first].map((mark) => `close ${mark}`),
    );
    const failed = harness.events.filter(({ type }) => type === 'portsNotClosed');
    expect(failed).toMatchObject([first, second, first, first].map((mark) => ({ mark })));
  });
});

import { ManagerHarness } from './testing/manager-harness.js';
import { superviseProgram } from './supervise-program.js';
import type { ProcessExit } from './supervision/managed-process.js';

const backoff = { initialMs: 1, maxMs: 1 };

describe('a supervised program', () => {
  const harness = new ManagerHarness();
  afterAll(() => harness.close());
  // The program counts its starts in a file beside it.
  const program = harness.program(
    'counting',
    'echo x >> "$0.starts"; n=$(wc -l < "$0.starts"); echo "start $n"; [ "$n" -lt 3 ] && exit 7; exit 0',
  );

  it('is started again when it fails, until it succeeds', async () => {
    const ends: unknown[] = [];
    let text = '';
    const supervised = superviseProgram(harness.manager(['counting']), {
      path: program.path,
      restart: 'onFailure',
      backoff,
      onOutput: ({ stream, bytes }) => {
        if (stream === 'stdout') text += bytes.toString();
      },
      onEnd: (end) => ends.push((end as ProcessExit).code),
    });
    expect(await supervised.ended).toEqual({ code: 0, reason: 'exited' });
    expect(ends).toEqual([7, 7, 0]);
    expect(text).toBe('start 1\nstart 2\nstart 3\n');
    expect(supervised.run).toBeUndefined();
  });

  it('is stopped by close, and started no more', async () => {
    const { path } = harness.program('lasting', 'echo ready; exec sleep 1000');
    const ends: unknown[] = [];
    let ready = (): void => undefined;
    const isReady = new Promise<void>((resolve) => (ready = resolve));
    const supervised = superviseProgram(harness.manager(['lasting']), {
      path,
      backoff,
      onOutput: () => ready(),
      onEnd: (end) => ends.push(end),
    });
    await isReady;
    expect(supervised.run?.state).toEqual({ kind: 'running' });
    expect(await supervised.close()).toMatchObject({ reason: 'ownerDisconnected' });
    expect(ends).toHaveLength(1);
    expect(await supervised.close()).toBe(ends[0]);
  });

  it('is tried again when it cannot be started, and when what takes its output throws', async () => {
    const manager = harness.manager([]);
    const told: unknown[] = [];
    const supervised = superviseProgram(manager, {
      path: program.path,
      restart: 'onFailure',
      backoff,
      onOutput: () => {
        if (told.length < 2) throw new Error('no room');
      },
      onEnd: (end) => {
        told.push(end instanceof Error ? end.message : end.code);
        manager.setAllowed([{ path: program.path }]);
      },
    });
    expect(await supervised.ended).toMatchObject({ code: 0 });
    expect(told).toEqual([expect.stringContaining('counting'), 'no room', 0]);
  });
});

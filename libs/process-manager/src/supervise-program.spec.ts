import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ManagerHarness, requestFor, TestOwner } from './testing/manager-harness.js';
import { ProcessError } from './process-error.js';
import type { ProcessManager } from './process-manager.js';
import { superviseProgram, type SuperviseOptions } from './supervise-program.js';
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

  it('is tried again when it cannot be started for now, and when what takes its output throws', async () => {
    const manager = harness.manager(['counting', 'lasting']);
    // Holds the name.
    const owner = new TestOwner();
    const lasting = harness.program('lasting', 'exec sleep 1000');
    await manager.start(requestFor(lasting, { name: 'one', owner }));
    const told: unknown[] = [];
    const supervised = superviseProgram(manager, {
      path: program.path,
      name: 'one',
      restart: 'onFailure',
      backoff,
      onOutput: () => {
        if (!told.includes('no room')) throw new Error('no room');
      },
      onEnd: (end) => {
        const found = end instanceof ProcessError ? end.code : (end as Error).message;
        if (told.at(-1) !== found) told.push(found);
        owner.disconnect();
      },
    });
    expect(await supervised.ended).toMatchObject({ code: 0 });
    expect(told.slice(0, 2)).toEqual(['alreadyRunning', 'no room']);
  });

  it.each<[string, string, (manager: ProcessManager) => Partial<SuperviseOptions> | Promise<void>]>(
    [
      [
        'pathNotAllowed',
        'that no entry allows',
        () => ({ path: harness.program('other', '').path }),
      ],
      ['argumentsNotAllowed', 'with arguments that its entry refuses', () => ({ args: ['--x'] })],
      ['invalidPath', 'with an unusual path', () => ({ path: `${harness.programs}/./counting` })],
      ['notFound', 'with a typo in its path', () => ({ path: `${program.path}x` })],
      ['invalidArgument', 'with a limit that cannot be', () => ({ limits: { memoryBytes: 0.1 } })],
      ['shuttingDown', 'of a manager that is closed', (manager) => manager.close()],
    ],
  )('ends with %s for a program %s', async (code, _, change) => {
    const manager = harness.manager([], { allowed: [{ path: program.path, args: 'none' }] });
    const told: unknown[] = [];
    const options = { path: program.path, backoff, onEnd: (end: unknown) => told.push(end) };
    const supervised = superviseProgram(manager, { ...options, ...(await change(manager)) });
    const error = await supervised.ended.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProcessError);
    expect(error).toMatchObject({ code });
    expect(told).toEqual([error]);
    await expect(supervised.close()).rejects.toBe(error);
    await supervised[Symbol.asyncDispose]();
  });

  it('runs beside another program with its file name, and beside itself under another name', async () => {
    const paths = ['x', 'y'].map((folder) => {
      mkdirSync(path.join(harness.programs, folder));
      return harness.program(`${folder}/agent`, 'echo "$0"; exec sleep 1000').path;
    });
    const [first = '', second = ''] = paths;
    const manager = harness.manager([], { allowed: paths.map((file) => ({ path: file })) });
    const programs = await Promise.all(
      [{ path: first }, { path: second }, { path: second, name: 'again' }].map(async (options) => {
        let ready = (): void => undefined;
        const isReady = new Promise<void>((resolve) => (ready = resolve));
        const ends: unknown[] = [];
        const onEnd = (end: unknown): unknown => ends.push(end);
        const supervised = superviseProgram(manager, {
          ...options,
          backoff,
          onEnd,
          onOutput: ready,
        });
        await isReady;
        return { supervised, ends };
      }),
    );
    expect(programs.map(({ supervised }) => supervised.run?.name)).toEqual([
      first,
      second,
      'again',
    ]);
    expect(programs.flatMap(({ ends }) => ends)).toEqual([]);
    for (const { supervised } of programs) await supervised.close();
    // The next manager removes the copies.
    await manager.recover();
    for (const folder of ['x', 'y'])
      expect(readdirSync(path.join(harness.programs, folder))).toEqual(['agent']);
  });

  it('is stopped by the signal of its caller, within its limits', async () => {
    const { path: file } = harness.program('lasting', 'echo ready; exec sleep 1000');
    const abort = new AbortController();
    const reason = new Error('enough');
    const limits: unknown[] = [];
    const supervised = superviseProgram(harness.manager(['lasting']), {
      path: file,
      backoff,
      limits: { memoryBytes: 2 ** 30 },
      signal: abort.signal,
      onOutput: () => {
        limits.push(supervised.run?.limits);
        abort.abort(reason);
      },
    });
    const error = await supervised.ended.catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(ProcessError);
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    expect(limits).toEqual([expect.objectContaining({ memoryBytes: 2 ** 30 })]);
    expect(supervised.run).toBeUndefined();
  });

  it.each([0, 2])(
    'is restarted at most %d times, and ends with the last exit',
    async (maxRestarts) => {
      const { path: file } = harness.program('failing', 'exit 7');
      const ends: unknown[] = [];
      const onEnd = (end: unknown): unknown => ends.push(end);
      const options = { path: file, maxRestarts, backoff, onEnd };
      const supervised = superviseProgram(harness.manager(['failing']), options);
      expect(await supervised.ended).toMatchObject({ code: 7 });
      expect(ends).toHaveLength(maxRestarts + 1);
    },
  );
});

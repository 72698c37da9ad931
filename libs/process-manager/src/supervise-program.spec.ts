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
    expect(await supervised).toEqual({ code: 0, reason: 'exited' });
    expect(ends).toEqual([7, 7, 0]);
    expect(text).toBe('start 1\nstart 2\nstart 3\n');
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
    expect(await supervised).toMatchObject({ code: 0 });
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
    const error = await supervised.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProcessError);
    expect(error).toMatchObject({ code });
    expect(told).toEqual([error]);
  });

  it('runs beside another program with its file name, and beside itself under another name', async () => {
    const paths = ['x', 'y'].map((folder) => {
      mkdirSync(path.join(harness.programs, folder));
      return harness.program(`${folder}/agent`, 'echo "$0"; exec sleep 1000').path;
    });
    const [first = '', second = ''] = paths;
    const manager = harness.manager([], { allowed: paths.map((file) => ({ path: file })) });
    const stopping = new AbortController();
    const { signal } = stopping;
    const ends: unknown[] = [];
    const onEnd = (end: unknown): unknown => ends.push(end);
    const programs = await Promise.all(
      [{ path: first }, { path: second }, { path: second, name: 'again' }].map(async (options) => {
        let ready = (): void => undefined;
        const isReady = new Promise<void>((resolve) => (ready = resolve));
        const all = { ...options, backoff, onEnd, onOutput: ready, signal };
        const ended = superviseProgram(manager, all).catch((error: unknown) => error);
        await isReady;
        return { ended };
      }),
    );
    const names = new Set(manager.list().map(({ name }) => name));
    expect(names).toEqual(new Set(['again', first, second]));
    expect(ends).toEqual([]);
    stopping.abort();
    for (const { ended } of programs) expect(await ended).toMatchObject({ code: 'aborted' });
    // The next manager removes the copies.
    await manager.recover();
    for (const folder of ['x', 'y'])
      expect(readdirSync(path.join(harness.programs, folder))).toEqual(['agent']);
  });

  it('is stopped by the signal of its caller, within its limits, and started no more', async () => {
    const { path: file } = harness.program('lasting', 'echo ready; exec sleep 1000');
    const abort = new AbortController();
    const reason = new Error('enough');
    const manager = harness.manager(['lasting']);
    const runs: unknown[] = [];
    const ends: unknown[] = [];
    const supervised = superviseProgram(manager, {
      path: file,
      backoff,
      limits: { memoryBytes: 2 ** 30 },
      signal: abort.signal,
      onOutput: () => {
        for (const { limits, state } of manager.list()) runs.push({ limits, state });
        abort.abort(reason);
      },
      onEnd: (end) => ends.push(end),
    });
    const error = await supervised.catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(ProcessError);
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    const limits: unknown = expect.objectContaining({ memoryBytes: 2 ** 30 });
    expect(runs).toEqual([{ limits, state: { kind: 'running' } }]);
    expect(ends).toMatchObject([{ reason: 'ownerDisconnected' }]);
    expect(manager.list()).toEqual([]);
  });

  it('is never started after an abort', async () => {
    const { path: file } = harness.program('lasting', 'exec sleep 1000');
    const ends: unknown[] = [];
    const options = { path: file, signal: AbortSignal.abort(), onEnd: () => ends.push('end') };
    const supervised = superviseProgram(harness.manager(['lasting']), options);
    await expect(supervised).rejects.toMatchObject({ code: 'aborted' });
    expect(ends).toEqual([]);
  });

  it.each([0, 2])(
    'is restarted at most %d times, and ends with the last exit',
    async (maxRestarts) => {
      const { path: file } = harness.program('failing', 'exit 7');
      const ends: unknown[] = [];
      const onEnd = (end: unknown): unknown => ends.push(end);
      const options = { path: file, maxRestarts, backoff, onEnd };
      const supervised = superviseProgram(harness.manager(['failing']), options);
      expect(await supervised).toMatchObject({ code: 7 });
      expect(ends).toHaveLength(maxRestarts + 1);
    },
  );
});

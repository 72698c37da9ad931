import {
  createWinsClient,
  WinsClientError,
  type DetachedOutput,
  type WinsClient,
} from '@wins/wins-api';
import { CountedRuns, expectCounted } from './counted-runs.js';

type Output = Extract<DetachedOutput, { readonly writtenAt: Date }>;

describe('a program that uses detached runs', () => {
  let runs: CountedRuns;
  let client: WinsClient;
  beforeAll(async () => {
    runs = await CountedRuns.start();
  });
  beforeEach(() => {
    client = createWinsClient({ address: runs.workspace.path('run', 'rancher_wins') });
  });
  afterEach(async () => {
    await client.close();
    await runs.prc('rm', 'web');
    await runs.endAll();
  });
  afterAll(() => runs[Symbol.asyncDispose]());

  const start = (options: object = {}): Promise<string> =>
    client.detached.start({ path: runs.counter, args: [runs.stop], ...options });

  async function all(parts: AsyncIterable<DetachedOutput>): Promise<DetachedOutput[]> {
    const found: DetachedOutput[] = [];
    for await (const part of parts) found.push(part);
    return found;
  }

  function textOf(parts: readonly DetachedOutput[], stream: Output['stream']): string {
    const outputs = parts.filter((part): part is Output => part.stream === stream);
    return Buffer.concat(outputs.map(({ bytes }) => bytes)).toString();
  }

  /** Reads until a number of lines of standard output was seen. */
  async function linesOf(name: string, count: number): Promise<void> {
    let lines = 0;
    for await (const part of client.detached.read(name, { follow: true })) {
      if (part.stream === 'stdout') lines += part.bytes.toString().split('\n').length - 1;
      if (lines >= count) return;
    }
  }

  async function failure(call: Promise<unknown>): Promise<WinsClientError> {
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(WinsClientError);
    return error as WinsClientError;
  }

  it('starts one with the path alone, lists it, and stops, restarts and removes it', async () => {
    const before = new Date();
    const name = await start({ name: 'web' });
    expect(name).toBe('web');
    const { detached } = client;
    const [run] = await detached.list();
    expect(run).toEqual({
      name,
      process: 'rancher-wins-counter',
      path: runs.counter,
      pid: runs.ofRun()[0],
      state: 'running',
      startedAt: expect.any(Date) as Date,
      end: undefined,
      restarts: 0,
      restartAt: undefined,
      gaveUp: undefined,
      refused: undefined,
      needsSha256: undefined,
    });
    expect(run?.startedAt.getTime()).toBeGreaterThanOrEqual(before.getTime() - 1000);
    expect(await detached.stop(name)).toMatchObject({ reason: 'stopped' });
    const [stopped] = await detached.list();
    expect(stopped).toMatchObject({ state: 'stopped', end: { exit: { reason: 'stopped' } } });
    expect(stopped?.end?.endedAt).toBeInstanceOf(Date);
    expect(await detached.startAgain(name)).toMatchObject({ name, state: 'running' });
    const [pid] = runs.ofRun();
    expect(await detached.restart(name)).toMatchObject({ name, state: 'running' });
    expect(runs.ofRun()).toEqual([expect.any(Number)]);
    expect(runs.ofRun()).not.toEqual([pid]);
    expect(await detached.remove(name)).toMatchObject({ exit: { reason: 'stopped' } });
    expect(await detached.list()).toEqual([]);
    expect(runs.ofRun()).toEqual([]);
  });

  it('learns all about one, and keeps nothing of one that has no age', async () => {
    const { detached } = client;
    const before = await detached.list();
    const env = { COUNTER_TOKEN: 'secret' };
    const name = await start({ name: 'web', env, maxAgeMs: 0, limits: {} });
    const [run] = await detached.list();
    const details = await detached.inspect(name);
    expect(details).toEqual({
      ...run,
      args: [runs.stop],
      variables: ['COUNTER_TOKEN'],
      directory: expect.any(String) as string,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      limits: undefined,
      owner: expect.any(String) as string,
      restart: 'no',
      failures: 0,
      outputBytes: expect.any(Number) as number,
      keptBytes: expect.any(Number) as number,
      maxKeptBytes: expect.any(Number) as number,
      maxAgeMs: 0,
    });
    expect(JSON.stringify(details)).not.toContain('secret');
    const exit = detached.wait(name);
    await linesOf(name, 1);
    runs.finish();
    expect(await exit).toMatchObject({ exitCode: 7 });
    while ((await detached.list()).length > before.length);
    const codes = [detached.inspect(name), start({ maxAgeMs: 0, restart: 'always' })].map(
      async (call) => (await failure(call)).code,
    );
    expect(await Promise.all(codes)).toEqual(['notFound', 'invalidRequest']);
    await expect(start({ maxAgeMs: -1 })).rejects.toThrow('found -1 as maxAgeMs');
  });

  it.each([
    ['killed', () => runs.killDaemon()],
    ['stopped', () => runs.stopDaemon()],
  ])('reads every byte once through a daemon that is %s, and how the run ended', async (_, end) => {
    const name = await start();
    const changes: string[] = [];
    const found: DetachedOutput[] = [];
    const waited = client.detached.wait(name);
    const read = { follow: true, onDaemonChange: (state: string) => changes.push(state) };
    for await (const part of client.detached.read(name, read)) {
      found.push(part);
      const lines = textOf(found, 'stdout').split('\n').length;
      if (lines > 20 && changes.length === 1) {
        await end();
        await runs.startDaemon();
        changes.push('started');
      }
      if (lines > 100) runs.finish();
    }
    expect(changes).toEqual(['serving', 'started', 'gone', 'serving']);
    expect(expectCounted(textOf(found, 'stdout'))).toBeGreaterThan(100);
    const [last] = found.splice(-1);
    const exit = { exitCode: 7, signal: undefined, reason: 'exited' };
    let offset = 0;
    for (const part of found as Output[]) {
      expect(part.offset).toBe(offset);
      offset += part.bytes.length;
    }
    expect(last).toEqual({
      stream: 'end',
      exit,
      endedAt: expect.any(Date) as Date,
      outputBytes: offset,
    });
    expect(await waited).toEqual(exit);
    // Also of a run that has ended.
    expect(await client.detached.wait(name)).toEqual(exit);
  });

  it('reads from an offset or a time, the last lines, and one of both outputs', async () => {
    const name = await start();
    await linesOf(name, 40);
    runs.finish();
    await client.detached.wait(name);
    const read = (...words: Parameters<typeof client.detached.read>) =>
      client.detached.read(...words);
    const whole = await all(read(name));
    const text = textOf(whole, 'stdout');
    const errors = textOf(whole, 'stderr');
    expect(errors).toMatch(/^(error \d*[02468]0\n)+$/);
    expect(whole.at(-1)?.stream).toBe('end');
    expect(textOf(await all(read(name, { offset: 7 })), 'stdout')).toBe(text.slice(7));
    const tail = await all(read(name, { tailLines: 3, only: 'stdout' }));
    expect(textOf(tail, 'stdout')).toBe(text.split('\n').slice(-4).join('\n'));
    const onlyErrors = await all(read(name, { only: 'stderr' }));
    expect([textOf(onlyErrors, 'stdout'), textOf(onlyErrors, 'stderr')]).toEqual(['', errors]);
    const middle = whole.filter((part): part is Output => 'writtenAt' in part).at(20)?.writtenAt;
    const since = textOf(await all(read(name, { since: middle, only: 'stdout' })), 'stdout');
    expect(since.length).toBeLessThan(text.length);
    expect(text.endsWith(since)).toBe(true);
    const later = new Date(Date.now() + 3_600_000);
    expect(textOf(await all(read(name, { since: later })), 'stdout')).toBe('');
  });

  it('fails when no next daemon comes within its time, and by its signal while one is awaited', async () => {
    const name = await start();
    await linesOf(name, 1);
    const gone = new AbortController();
    const reason = new Error('enough');
    const aborted = client.detached.wait(name, {
      signal: gone.signal,
      onDaemonChange: (state) => state === 'gone' && gone.abort(reason),
    });
    const late = client.detached.wait(name, { reconnectTimeoutMs: 1 });
    const forNone = all(client.detached.read(name, { follow: true, reconnectTimeoutMs: 0 }));
    const failures = Promise.all([late, forNone, aborted].map(failure));
    await runs.killDaemon();
    try {
      const [first, second, third] = await failures;
      expect(first).toMatchObject({ code: 'unavailable' });
      expect(second).toMatchObject({ code: 'unavailable', isConnectionLost: true });
      expect(third).toMatchObject({ code: 'aborted', cause: reason });
      // Nothing is awaited without a daemon at the beginning.
      expect(await failure(client.detached.wait(name))).toMatchObject({ code: 'unavailable' });
    } finally {
      await runs.startDaemon();
    }
  });

  it('learns of a name that is unknown or taken, a program that is missing, and a wrong number', async () => {
    const { detached } = client;
    await start({ name: 'web' });
    const missing = start({ path: runs.workspace.path('missing') });
    const codes = await Promise.all(
      [
        detached.wait('other'),
        detached.stop('other'),
        detached.startAgain('other'),
        detached.restart('other'),
        detached.remove('other'),
        all(detached.read('other')),
        start({ name: 'web' }),
        missing,
        start({ name: 'new', restart: 'sometimes' }),
        detached.wait('web', { reconnectTimeoutMs: -1 }),
        detached.wait('web', { signal: AbortSignal.abort() }),
      ].map(async (call) => (await failure(call)).code),
    );
    expect(codes).toEqual([
      ...Array.from({ length: 6 }, () => 'notFound'),
      'alreadyExists',
      'notFound',
      'invalidRequest',
      'invalidRequest',
      'aborted',
    ]);
    expect(() => detached.read('web', { offset: 0.5 })).toThrow(
      'found 0.5 as offset; wanted a whole number',
    );
    expect(() => detached.read('web', { tailLines: -1 })).toThrow('as tailLines');
    expect(() => detached.read('web', { since: new Date(NaN) })).toThrow('as since');
  });
});

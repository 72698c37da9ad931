import {
  createWinsClient,
  WinsClientError,
  type RunOutputPart,
  type WinsClient,
} from '@wins/wins-api';
import { CountedRuns, expectCounted } from './counted-runs.js';

type Output = Extract<RunOutputPart, { readonly writtenAt: Date }>;

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
    client.runs.start({ path: runs.counter, args: [runs.stop], ...options });

  async function all(parts: AsyncIterable<RunOutputPart>): Promise<RunOutputPart[]> {
    const found: RunOutputPart[] = [];
    for await (const part of parts) found.push(part);
    return found;
  }

  function textOf(parts: readonly RunOutputPart[], stream: Output['stream']): string {
    const outputs = parts.filter((part): part is Output => part.stream === stream);
    return Buffer.concat(outputs.map(({ bytes }) => bytes)).toString();
  }

  /** Reads until a number of lines of standard output was seen. */
  async function linesOf(name: string, count: number): Promise<void> {
    let lines = 0;
    for await (const part of client.runs.read(name, { follow: true })) {
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
    const [run] = await client.runs.list();
    expect(run).toEqual({
      name,
      process: 'rancher-wins-counter',
      lifetime: 'detached',
      path: runs.counter,
      pid: runs.ofRun()[0],
      state: 'running',
      startedAtMs: expect.any(Number) as number,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      exposes: [],
      restarts: 0,
    });
    expect(run?.startedAtMs).toBeGreaterThanOrEqual(before.getTime() - 1000);
    expect(await client.runs.stop(name)).toMatchObject({ reason: 'stopped' });
    expect(await client.runs.list()).toEqual([]);
    const [stopped] = await client.runs.list({ all: true });
    expect(stopped).toMatchObject({ state: 'stopped', end: { reason: 'stopped' } });
    expect(stopped?.end?.endedAtMs).toBeGreaterThanOrEqual(before.getTime() - 1000);
    expect(await client.runs.startAgain(name)).toMatchObject({ name, state: 'running' });
    const [pid] = runs.ofRun();
    expect(await client.runs.restart(name)).toMatchObject({ name, state: 'running' });
    expect(runs.ofRun()).toEqual([expect.any(Number)]);
    expect(runs.ofRun()).not.toEqual([pid]);
    expect(await client.runs.remove(name)).toMatchObject({ reason: 'stopped' });
    expect(await client.runs.list({ all: true })).toEqual([]);
    expect(runs.ofRun()).toEqual([]);
  });

  it('learns all about one, and keeps nothing of one that has no age', async () => {
    const list = () => client.runs.list({ all: true });
    const before = await list();
    const env = { COUNTER_TOKEN: 'secret' };
    const name = await start({ name: 'web', env, maxAgeMs: 0, limits: {} });
    const [run] = await list();
    const inspected = await client.runs.inspect(name);
    expect(inspected).toEqual({
      ...run,
      details: {
        request: {
          args: [runs.stop],
          variables: ['COUNTER_TOKEN'],
          directory: expect.any(String) as string,
        },
        owner: expect.any(String) as string,
        restartPolicy: 'no',
        failures: 0,
        outputBytes: expect.any(Number) as number,
        kept: {
          bytes: expect.any(Number) as number,
          maxBytes: expect.any(Number) as number,
          maxAgeMs: 0,
        },
      },
    });
    expect(JSON.stringify(inspected)).not.toContain('secret');
    const exit = client.runs.wait(name);
    await linesOf(name, 1);
    runs.finish();
    expect(await exit).toMatchObject({ exitCode: 7 });
    while ((await list()).length > before.length);
    const codes = [client.runs.inspect(name), start({ maxAgeMs: 0, restart: 'always' })].map(
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
    const found: RunOutputPart[] = [];
    const waited = client.runs.wait(name);
    const read = { follow: true, onDaemonChange: (state: string) => changes.push(state) };
    for await (const part of client.runs.read(name, read)) {
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
    const whole = { ...exit, endedAtMs: expect.any(Number) as number, outputBytes: offset };
    expect(last).toEqual({ stream: 'end', ...whole });
    expect(await waited).toEqual(whole);
    // Also of a run that has ended.
    expect(await client.runs.wait(name)).toEqual(whole);
  });

  it('reads from an offset or a time, the last lines, and one of both outputs', async () => {
    const name = await start();
    await linesOf(name, 40);
    runs.finish();
    await client.runs.wait(name);
    const read = (...words: Parameters<typeof client.runs.read>) => client.runs.read(...words);
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
    const aborted = client.runs.wait(name, {
      signal: gone.signal,
      onDaemonChange: (state) => state === 'gone' && gone.abort(reason),
    });
    const late = client.runs.wait(name, { reconnectTimeoutMs: 1 });
    const forNone = all(client.runs.read(name, { follow: true, reconnectTimeoutMs: 0 }));
    const failures = Promise.all([late, forNone, aborted].map(failure));
    await runs.killDaemon();
    try {
      const [first, second, third] = await failures;
      expect(first).toMatchObject({ code: 'unavailable' });
      expect(second).toMatchObject({ code: 'unavailable', isConnectionLost: true });
      expect(third).toMatchObject({ code: 'aborted', cause: reason });
      // Nothing is awaited without a daemon at the beginning.
      expect(await failure(client.runs.wait(name))).toMatchObject({ code: 'unavailable' });
    } finally {
      await runs.startDaemon();
    }
  });

  it('learns of a name that is unknown or taken, a program that is missing, and a wrong number', async () => {
    const { runs: detached } = client;
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

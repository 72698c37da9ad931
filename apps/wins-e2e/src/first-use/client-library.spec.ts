import { once } from 'node:events';
import { createWinsClient, WinsClientError, type HostRun, type WinsClient } from '@wins/wins-api';
import { PassThrough } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Daemon } from '../testing/daemon.js';
import { processesWith } from '../testing/process-table.js';
import { Workspace } from '../testing/workspace.js';

describe('a user of the client library', () => {
  const workspace = new Workspace();
  const address = workspace.path('run', 'rancher_wins');
  let daemon: Daemon;
  let talks: string;
  let stays: string;
  let dies: string;
  let floods: string;
  let brief: string;
  let client: WinsClient;

  beforeAll(async () => {
    talks = workspace.script('talks', 'echo "out $1 $KIND"; pwd; echo err >&2; exit 3');
    stays = workspace.script('stays', 'echo up; sleep 1000 & wait');
    dies = workspace.script('dies', 'kill -KILL $$');
    floods = workspace.script('floods', 'exec head -c 16777216 /dev/zero');
    brief = workspace.script('brief', 'sleep "$1"; exit 3');
    const config = workspace.config([{ path: talks, envs: ['KIND'] }, stays, dies, floods, brief]);
    daemon = await Daemon.start(workspace, config);
    client = createWinsClient({ address });
  });
  afterAll(async () => {
    await client.close();
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const everyone = (): number[] => processesWith(workspace.path('rancher-wins-stays'));

  async function failure(call: Promise<unknown>): Promise<unknown> {
    return call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
  }

  it('runs a program with its path alone, and gets its name, output and how it ended', async () => {
    const run = await client.run({ path: talks, args: ['a b'], env: { KIND: 'first' } });
    expect(run.name).toBe('rancher-wins-talks');
    const output = await Promise.all([text(run.stdout), text(run.stderr)]);
    expect(output).toEqual([`out a b first\n${workspace.folder}\n`, 'err\n']);
    expect(await run.exit).toEqual({ exitCode: 3, signal: undefined, reason: 'exited' });
  });

  it('gets the signal that ended the program', async () => {
    const run = await client.run({ path: dies });
    expect(await run.exit).toEqual({ exitCode: undefined, signal: 'SIGKILL', reason: 'exited' });
  });

  it('gets the PID of the process, and the reason of its stop', async () => {
    const run = await client.run({ path: stays });
    await once(run.stdout, 'readable');
    expect(everyone()).toContain(run.pid);
    expect(await run.stop()).toMatchObject({ reason: 'leaseEnded' });
    expect(everyone()).toEqual([]);
    const forced = await client.run({ path: stays });
    expect(await forced.stop({ force: true })).toMatchObject({ signal: 'SIGKILL' });
    expect(await forced.stop()).toEqual(await forced.exit);
  });

  it('holds the program up while it does not read, and loses no byte', async () => {
    const run = await client.run({ path: floods });
    run.stderr.resume();
    let bytes = 0;
    for await (const chunk of run.stdout) {
      bytes += (chunk as Buffer).length;
      expect(run.stdout.readableLength).toBeLessThanOrEqual(256 * 1024);
      await new Promise(setImmediate);
    }
    expect(bytes).toBe(16 * 1024 * 1024);
    expect((await run.exit).exitCode).toBe(0);
  });

  it('stops the program by an abort, though it does not read, and goes on when it is gone', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const { exit } = await client.run({ path: floods, signal: abort.signal });
    abort.abort(reason);
    const error = await failure(exit);
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    expect(error).toBeInstanceOf(WinsClientError);
    expect(processesWith(workspace.path('rancher-wins-floods'))).toEqual([]);
  });

  // Each life of the program with a stop after some calls. Together they reach the end of the program at many moments; the last one does not end.
  const MOMENTS = [0, 0.002, 0.004, 0.008, 0.012, 0.016, 0.024, 0.05, 1000].flatMap((seconds) =>
    [0, 1, 4].map((calls) => ({ args: [String(seconds)], calls })),
  );

  it('gets the exit of a program that ends while it is stopped, at whatever moment', async () => {
    const exits: string[] = [];
    for (const { args, calls } of MOMENTS) {
      const run = await client.run({ path: brief, args });
      for (let call = 0; call < calls; call += 1) await client.info();
      const { exitCode, signal, reason } = await run.stop();
      exits.push(`${reason} ${exitCode ?? signal}`);
    }
    // The stop may come first, before or after the program has decided to end by itself.
    const possible = ['exited 3', 'leaseEnded 3', 'leaseEnded SIGTERM'];
    expect(possible).toEqual(expect.arrayContaining(exits));
    expect(exits.at(-1)).toBe('leaseEnded SIGTERM');
    const ended = await client.run({ path: brief, args: ['0'] });
    await ended.exit;
    expect(await ended.stop()).toMatchObject({ reason: 'exited', exitCode: 3 });
  });

  it('is told of its abort, also when the program ends at the same time', async () => {
    const ends: string[] = [];
    for (const { args, calls } of MOMENTS) {
      const abort = new AbortController();
      const { exit } = await client.run({ path: brief, args, signal: abort.signal });
      for (let call = 0; call < calls; call += 1) await client.info();
      abort.abort();
      const result = await exit.catch((error: unknown) => (error as WinsClientError).code);
      ends.push(typeof result === 'string' ? result : `exited ${result.exitCode}`);
    }
    expect(['exited 3', 'aborted']).toEqual(expect.arrayContaining(ends));
    expect(ends.at(-1)).toBe('aborted');
  });

  it('is told by the streams that the output was cut off, by an abort or by the loss of the daemon', async () => {
    const abort = new AbortController();
    const stopped = await client.run({ path: stays, signal: abort.signal });
    const copies = [buffer(stopped.stdout), buffer(stopped.stderr)].map(failure);
    await once(stopped.stdout, 'data');
    abort.abort();
    const aborted = await failure(stopped.exit);
    expect(aborted).toMatchObject({ code: 'aborted' });
    expect(await Promise.all(copies)).toEqual([aborted, aborted]);

    await using other = createWinsClient({ address });
    const lost = await other.run({ path: stays });
    const copy = failure(pipeline(lost.stdout, new PassThrough().resume()));
    await once(lost.stdout, 'data');
    await daemon.stop('SIGKILL');
    expect(await copy).toMatchObject({ code: 'unavailable', isConnectionLost: true });
    expect(await copy).toBe(await failure(lost.exit));
    // A stream that nobody has read until now ends with an error too, and none that nobody reads ends this program.
    expect(await failure(buffer(lost.stderr))).toBeInstanceOf(Error);
    daemon = await Daemon.start(workspace, workspace.path('config'));
    await client.close();
    client = createWinsClient({ address });
  });

  it('starts nothing when it was aborted before', async () => {
    const signal = AbortSignal.abort();
    const error = await failure(client.run({ path: stays, signal }));
    expect(error).toMatchObject({ code: 'aborted' });
    expect(everyone()).toEqual([]);
  });

  it('stops it at the end of its block, whatever ends that', async () => {
    const throwing = async (): Promise<void> => {
      await using run: HostRun = await client.run({ path: stays });
      await once(run.stdout, 'readable');
      throw new Error('no room');
    };
    await expect(throwing()).rejects.toThrow('no room');
    expect(everyone()).toEqual([]);
  });

  it('learns that there is no such program here, or that the daemon refuses it', async () => {
    const missing = client.run({ path: workspace.path('missing') });
    expect(await failure(missing)).toMatchObject({
      code: 'notFound',
      message: expect.stringContaining('at the same path here and on the host') as string,
    });
    const refused = client.run({ path: talks, env: { OTHER: '1' } });
    expect(await failure(refused)).toMatchObject({ code: 'refused', reason: 'envNotAllowed' });
    const wrong = client.run({ path: talks, env: { 'A=B': '1' } });
    expect(await failure(wrong)).toMatchObject({ code: 'invalidRequest' });
  });

  describe('by an address', () => {
    const before = process.env['WINS_RUNTIME_DIR'];
    beforeAll(() => (process.env['WINS_RUNTIME_DIR'] = workspace.runtimeDirectory));
    afterAll(() => {
      if (before === undefined) delete process.env['WINS_RUNTIME_DIR'];
      else process.env['WINS_RUNTIME_DIR'] = before;
    });

    it.each([
      undefined,
      'rancher_wins',
      'npipe:////./pipe/rancher_wins',
      '\\\\.\\pipe\\rancher_wins',
      address,
    ])('%s reaches the daemon', async (spelt) => {
      await using client = createWinsClient(spelt === undefined ? {} : { address: spelt });
      await expect(client.isServing()).resolves.toBe(true);
    });
  });
});

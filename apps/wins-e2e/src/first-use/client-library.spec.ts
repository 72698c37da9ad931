import { runProcess, WinsClientError, createWinsClient, type OnOutput } from '@wins/wins-api';
import { Daemon } from '../testing/daemon.js';
import { processesWith } from '../testing/process-table.js';
import { Workspace } from '../testing/workspace.js';

describe('who uses the client library', () => {
  const workspace = new Workspace();
  const address = workspace.path('run', 'rancher_wins');
  let daemon: Daemon;
  let talks: string;
  let stays: string;
  let dies: string;

  beforeAll(async () => {
    talks = workspace.script('talks', 'echo "out $1 $KIND"; pwd; echo err >&2; exit 3');
    stays = workspace.script('stays', 'echo up; sleep 1000 & wait');
    dies = workspace.script('dies', 'kill -KILL $$');
    const config = workspace.config([{ path: talks, envs: ['KIND'] }, stays, dies]);
    daemon = await Daemon.start(workspace, config);
  });
  afterAll(async () => {
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

  it('runs a program with its path alone, and gets its output and how it ended', async () => {
    const output = { out: '', err: '' };
    const result = await runProcess({
      address,
      path: talks,
      args: ['a b'],
      envs: { KIND: 'first' },
      onStdout: (chunk) => void (output.out += Buffer.from(chunk).toString()),
      onStderr: (chunk) => void (output.err += Buffer.from(chunk).toString()),
    });
    expect(result).toEqual({ exitCode: 3, signal: undefined, reason: 'exited' });
    expect(output).toEqual({ out: `out a b first\n${workspace.folder}\n`, err: 'err\n' });
  });

  it('is told the signal that ended the program', async () => {
    const result = await runProcess({ address, path: dies });
    expect(result).toEqual({ exitCode: undefined, signal: 'SIGKILL', reason: 'exited' });
  });

  it('stops the program by an abort, and goes on when it is gone', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const error = await failure(
      runProcess({
        address,
        path: stays,
        signal: abort.signal,
        onStdout: () => abort.abort(reason),
      }),
    );
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    expect(error).toBeInstanceOf(WinsClientError);
    expect(everyone()).toEqual([]);
  });

  it('starts nothing when it was aborted before', async () => {
    const signal = AbortSignal.abort();
    const error = await failure(runProcess({ address, path: stays, signal }));
    expect(error).toMatchObject({ code: 'aborted' });
    expect(everyone()).toEqual([]);
  });

  it.each<[string, OnOutput]>([
    [
      'throws',
      () => {
        throw new Error('no room');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no room'))],
  ])('gets what its own callback %s, and the program is stopped', async (_how, onStdout) => {
    const ended = daemon.log.length;
    await expect(runProcess({ address, path: stays, onStdout })).rejects.toThrow('no room');
    await daemon.logged((record) => record['type'] === 'ended', ended);
  });

  it('learns that there is no such program here, or that the daemon refuses it', async () => {
    const missing = runProcess({ address, path: workspace.path('missing') });
    expect(await failure(missing)).toMatchObject({
      code: 'notFound',
      message: expect.stringContaining('at the same path here and on the host') as string,
    });
    const refused = runProcess({ address, path: talks, envs: { OTHER: '1' } });
    expect(await failure(refused)).toMatchObject({ code: 'refused', reason: 'envNotAllowed' });
    const wrong = runProcess({ address, path: talks, envs: { 'A=B': '1' } });
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

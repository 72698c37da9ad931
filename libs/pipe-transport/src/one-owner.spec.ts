import { buildSync } from 'esbuild';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { replacementRight, socketIdentity } from './claim-name.js';
import { connectPipe } from './connect-pipe.js';
import { listenPipe, type ListenPipeOptions } from './listen-pipe.js';

const program = join(__dirname, 'fixtures', 'programs', 'listen.cjs');

describe('a pipe name on POSIX', () => {
  let base = '';
  let runtimeDir = '';
  /** Processes that may own the pipe in place of this one. They serve all tests, because the start of one takes longer than a test. */
  let started: OtherProcess[] = [];
  const others = () => started.filter(({ isAlive }) => isAlive);

  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'wins-owner-'));
    const bundle = join(base, 'pipe-transport.cjs');
    const entryPoints = [join(__dirname, 'index.ts')];
    const conditions = ['@wins/source'];
    buildSync({ entryPoints, outfile: bundle, bundle: true, platform: 'node', conditions });
    started = await Promise.all(Array.from({ length: 3 }, () => OtherProcess.start(bundle)));
  });

  beforeEach(async () => {
    runtimeDir = await mkdtemp(join(base, 'run-'));
  });

  afterAll(async () => {
    await Promise.all(others().map((other) => other.end()));
    await rm(base, { recursive: true });
  });

  const options = (): ListenPipeOptions => ({ runtimeDir, onConnection: (c) => c.pipe(c) });

  test('is refused with inUse while another process serves it, which is unharmed', async () => {
    const [other] = others();
    expect(await other?.listen(runtimeDir)).toBe('listening');
    await expect(listenPipe('x', options())).rejects.toMatchObject({
      code: 'inUse',
      message: expect.stringContaining('another process serves it; stop the process') as string,
    });
    const client = await connectPipe('x', { runtimeDir });
    client.write('alive');
    expect(String((await once(client, 'data'))[0])).toBe('alive');
    client.destroy();
    expect(await readdir(runtimeDir)).toEqual(['x']);
    expect(await other?.close()).toBe('closed');
  });

  test('goes to exactly one of many processes that find a dead socket at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      await leaveDeadSocket(join(runtimeDir, 'x'));
      const own = listenPipe('x', options());
      const outcomes = await Promise.all([
        own.then(
          () => 'listening',
          (error: unknown) => (error as { code?: unknown }).code,
        ),
        ...others().map((other) => other.listen(runtimeDir)),
      ]);
      expect(outcomes.sort()).toEqual([...others().map(() => 'inUse'), 'listening']);
      (await connectPipe('x', { runtimeDir })).destroy();
      await Promise.all(others().map((other) => other.close()));
      await own.then(
        (listener) => listener.close(),
        () => undefined,
      );
      expect(await readdir(runtimeDir)).toEqual([]);
    }
  });

  test('is taken over from a process that was killed', async () => {
    const [other] = others();
    expect(await other?.listen(runtimeDir)).toBe('listening');
    await other?.end('SIGKILL');
    expect(await readdir(runtimeDir)).toEqual(['x']);
    const listener = await listenPipe('x', options());
    (await connectPipe('x', { runtimeDir })).destroy();
    await listener.close();
    expect(await readdir(runtimeDir)).toEqual([]);
  });

  test('goes to exactly one of many listeners in one process that find a dead socket', async () => {
    for (let round = 0; round < 5; round += 1) {
      await leaveDeadSocket(join(runtimeDir, 'x'));
      const attempts = Array.from({ length: 20 }, () => listenPipe('x', options()));
      const outcomes = await Promise.allSettled(attempts);
      const winners = outcomes.flatMap((o) => (o.status === 'fulfilled' ? [o.value] : []));
      expect(winners).toHaveLength(1);
      (await connectPipe('x', { runtimeDir })).destroy();
      expect(await readdir(runtimeDir)).toEqual(['x']);
      await winners[0]?.close();
    }
  });

  test('is taken over even when the one who did so before died halfway, twice', async () => {
    const socket = join(runtimeDir, 'x');
    await leaveDeadSocket(socket);
    const right = replacementRight(socket, await socketIdentity(socket));
    await leaveDeadSocket(right);
    await leaveDeadSocket(replacementRight(right, await socketIdentity(right)));
    const listener = await listenPipe('x', options());
    expect(await readdir(runtimeDir)).toEqual(['x']);
    await listener.close();
  });

  test('is not taken from a dead socket that another live process is replacing', async () => {
    const socket = join(runtimeDir, 'x');
    await leaveDeadSocket(socket);
    const before = await socketIdentity(socket);
    const replacing = await listenPipe('other', options());
    await link(replacing.path.address, replacementRight(socket, before));
    await expect(listenPipe('x', options())).rejects.toMatchObject({ code: 'inUse' });
    expect(await socketIdentity(socket)).toBe(before);
    await replacing.close();
  });

  test('is never taken from a file or directory that is no socket', async () => {
    await writeFile(join(runtimeDir, 'file'), 'precious');
    await mkdir(join(runtimeDir, 'directory'));
    for (const name of ['file', 'directory'])
      await expect(listenPipe(name, options())).rejects.toMatchObject({
        code: 'inUse',
        message: expect.stringContaining('not a socket') as string,
      });
    expect((await readdir(runtimeDir)).sort()).toEqual(['directory', 'file']);
  });

  test('is left alone on close when it has become the name of another', async () => {
    const listener = await listenPipe('x', options());
    const other = createServer();
    await rename(join(runtimeDir, 'x'), join(runtimeDir, 'moved'));
    other.listen(join(runtimeDir, 'x'));
    await once(other, 'listening');
    await listener.close();
    expect((await readdir(runtimeDir)).sort()).toEqual(['moved', 'x']);
    await new Promise((resolve) => other.close(resolve));
  });
});

async function leaveDeadSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}~`);
  await once(server, 'listening');
  await link(`${path}~`, path);
  await new Promise((resolve) => server.close(resolve));
}

/** A process that listens on request. */
class OtherProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;

  private constructor(bundle: string) {
    this.#child = spawn(process.execPath, [program, bundle], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  }

  static async start(bundle: string): Promise<OtherProcess> {
    const other = new OtherProcess(bundle);
    await other.#line();
    return other;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Listens at the pipe `x`. Returns `listening`, or the code of the refusal. */
  listen(runtimeDir: string): Promise<string> {
    return this.#told(runtimeDir);
  }

  close(): Promise<string> {
    return this.#told('');
  }

  /** Ends the process with its input, or by a signal. */
  async end(signal?: NodeJS.Signals): Promise<void> {
    const end = once(this.#child, 'exit');
    if (signal === undefined) this.#child.stdin.end();
    else this.#child.kill(signal);
    await end;
  }

  async #told(text: string): Promise<string> {
    const answer = this.#line();
    this.#child.stdin.write(`${text}\n`);
    return answer;
  }

  async #line(): Promise<string> {
    const [chunk] = (await once(this.#child.stdout, 'data')) as [Buffer];
    return chunk.toString().trim();
  }
}

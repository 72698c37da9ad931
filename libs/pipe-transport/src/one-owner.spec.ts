import { buildSync } from 'esbuild';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replacementRight, socketIdentity } from './claim-name.js';
import { connectPipe } from './connect-pipe.js';
import { listenPipe, type ListenPipeOptions } from './listen-pipe.js';

const program = join(__dirname, 'fixtures', 'programs', 'listen.cjs');

describe('a pipe name on POSIX', () => {
  let base = '';
  let bundle = '';
  let runtimeDir = '';
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'wins-owner-'));
    bundle = join(base, 'pipe-transport.cjs');
    const entryPoints = [join(__dirname, 'index.ts')];
    const conditions = ['@wins/source'];
    buildSync({ entryPoints, outfile: bundle, bundle: true, platform: 'node', conditions });
  });

  beforeEach(async () => {
    runtimeDir = await mkdtemp(join(base, 'run-'));
  });

  afterEach(async () => {
    await Promise.all(children.splice(0).map(ended));
  });

  afterAll(async () => {
    await rm(base, { recursive: true });
  });

  const start = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [program, bundle, runtimeDir], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(child);
    await line(child);
    return child;
  };

  const options = (): ListenPipeOptions => ({ runtimeDir, onConnection: (c) => c.pipe(c) });

  test('is taken over from a process that was killed', async () => {
    const first = await start();
    expect(await told(first, 'x')).toBe('listening');
    const end = once(first, 'exit');
    first.kill('SIGKILL');
    await end;
    expect(await readdir(runtimeDir)).toEqual(['x']);
    const listener = await listenPipe('x', options());
    (await connectPipe('x', { runtimeDir })).destroy();
    await listener.close();
    expect(await readdir(runtimeDir)).toEqual([]);
  });

  test('is refused with inUse while another process serves it, which is unharmed', async () => {
    const first = await start();
    expect(await told(first, 'x')).toBe('listening');
    await expect(listenPipe('x', options())).rejects.toMatchObject({
      code: 'inUse',
      message: expect.stringContaining('another process serves it; stop the process') as string,
    });
    const client = await connectPipe('x', { runtimeDir });
    client.write('alive');
    expect(String((await once(client, 'data'))[0])).toBe('alive');
    client.destroy();
    expect(await readdir(runtimeDir)).toEqual(['x']);
  });

  test('goes to exactly one of many processes that find a dead socket at the same time', async () => {
    const starters = await Promise.all(Array.from({ length: 4 }, start));
    for (let round = 0; round < 10; round += 1) {
      await leaveDeadSocket(join(runtimeDir, 'x'));
      const outcomes = await Promise.all(starters.map((each) => told(each, 'x')));
      expect(outcomes.sort()).toEqual([...Array<string>(3).fill('inUse'), 'listening']);
      (await connectPipe('x', { runtimeDir })).destroy();
      await Promise.all(starters.map((each) => told(each, '')));
      expect(await readdir(runtimeDir)).toEqual([]);
    }
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

/** Sends a line, and returns the answer. */
async function told(child: ChildProcess, name: string): Promise<string> {
  const answer = line(child);
  child.stdin?.write(`${name}\n`);
  return answer;
}

async function line(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output');
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return chunk.toString().trim();
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = once(child, 'exit');
  child.stdin?.end();
  await end;
}

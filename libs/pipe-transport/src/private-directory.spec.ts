import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listenPipe } from './listen-pipe.js';

const onConnection = (): void => undefined;

describe('the directory of a socket', () => {
  let base = '';

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'wins-dir-'));
  });

  afterEach(async () => {
    await rm(base, { recursive: true });
  });

  test('is made for the owner alone, and its socket too', async () => {
    const runtimeDir = join(base, 'run');
    const listener = await listenPipe('x', { onConnection, runtimeDir });
    expect((await stat(runtimeDir)).mode & 0o777).toBe(0o700);
    expect((await stat(join(runtimeDir, 'x'))).mode & 0o777).toBe(0o600);
    await listener.close();
  });

  test('gives a private socket even where the umask gives everyone everything', async () => {
    const umask = process.umask(0);
    try {
      const listener = await listenPipe('x', { onConnection, runtimeDir: join(base, 'run') });
      expect((await stat(join(base, 'run'))).mode & 0o777).toBe(0o700);
      expect((await stat(listener.path.address)).mode & 0o777).toBe(0o600);
      await listener.close();
    } finally {
      process.umask(umask);
    }
  });

  test.each([
    ...[0o777, 0o775, 0o770, 0o702].map((mode) => [mode, 'chmod go-w'] as const),
    // The mode of /tmp, which nobody should change.
    [0o1777, 'use a folder of your own below it'] as const,
  ])('is refused with mode %o', async (mode, next) => {
    const runtimeDir = join(base, 'run');
    await mkdir(runtimeDir);
    await chmod(runtimeDir, mode);
    await refused(listenPipe('x', { onConnection, runtimeDir }), runtimeDir, next);
    await refused(listenPipe(join(runtimeDir, 'x'), { onConnection }), runtimeDir, next);
  });

  test('is refused when others can write to a directory above it', async () => {
    await mkdir(join(base, 'open', 'run'), { recursive: true });
    await chmod(join(base, 'open'), 0o777);
    const runtimeDir = join(base, 'open', 'run');
    await refused(listenPipe('x', { onConnection, runtimeDir }), join(base, 'open'), '777');
  });

  test('is refused when it, or one above it, is a symbolic link', async () => {
    await mkdir(join(base, 'real', 'run'), { recursive: true });
    await symlink(join(base, 'real'), join(base, 'link'));
    await symlink(join(base, 'real', 'run'), join(base, 'run'));
    for (const runtimeDir of [join(base, 'run'), join(base, 'link', 'run')])
      await refused(
        listenPipe('x', { onConnection, runtimeDir }),
        runtimeDir,
        `use ${JSON.stringify(join(base, 'real', 'run'))}`,
      );
  });

  test('is refused when it is a file', async () => {
    await writeFile(join(base, 'run'), '');
    const runtimeDir = join(base, 'run');
    await refused(listenPipe('x', { onConnection, runtimeDir }), runtimeDir, 'it is not a folder');
  });

  test('is not made together with those above it, nor for a socket path', async () => {
    const notFound = expect.objectContaining({ code: 'notFound' }) as Error;
    const runtimeDir = join(base, 'a', 'b');
    await expect(listenPipe('x', { onConnection, runtimeDir })).rejects.toEqual(notFound);
    const socket = join(base, 'a', 'x');
    await expect(listenPipe(socket, { onConnection })).rejects.toEqual(notFound);
  });
});

async function refused(attempt: Promise<unknown>, ...words: string[]): Promise<void> {
  const error: unknown = await attempt.catch((caught: unknown) => caught);
  expect(error).toMatchObject({ name: 'PipeError', code: 'securityUnavailable' });
  for (const word of words) expect(String(error)).toContain(word);
}

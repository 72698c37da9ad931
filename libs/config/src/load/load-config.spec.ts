import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, defaultConfigPath, loadConfig } from '../index.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wins-config-'));
  file = join(folder, 'config');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function failure(path: string): Promise<ConfigError> {
  try {
    await loadConfig(path);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the file was accepted');
}

it('loads a file and names it in every problem', async () => {
  writeFileSync(file, 'debug: on\nWhite_List: {processPaths: [/bin/true]}\n', { mode: 0o600 });
  const { config, found, path, warnings } = await loadConfig(file);
  expect({ debug: config.debug, found, path }).toEqual({ debug: true, found: true, path: file });
  expect(warnings).toMatchObject([{ file, line: 2, code: 'legacySpelling' }]);
});

it('gives the defaults for a missing file, and says that it is missing', async () => {
  const { config, found } = await loadConfig(file);
  expect(found).toBe(false);
  expect(config.whiteList).toEqual({ processPaths: [], proxyPorts: [], proxyUdpPorts: [] });
  expect((await loadConfig(join(folder, 'no', 'such', 'folder'))).found).toBe(false);
});

it('refuses a file that others can change, according to the system', async () => {
  writeFileSync(file, 'debug: on\n', { mode: 0o600 });
  const rule = 'A7 writable by other users' as const;
  const distrust = { rule, path: folder, found: 'S-1-5-11 can change it' };
  const trust = { distrustOfFile: jest.fn((_path: string) => distrust) };
  await expect(loadConfig(file, { trust })).rejects.toMatchObject({
    code: 'insecure',
    message: expect.stringMatching(/at ".*" that S-1-5-11 can/) as string,
  });
  expect(trust.distrustOfFile.mock.calls[0]?.[0]).toBe(file);
  const anywhere = { distrustOfFile: () => undefined };
  await expect(loadConfig(file, { trust: anywhere })).resolves.toMatchObject({ found: true });
});

it.each([
  ['the file', () => file],
  ['its folder', () => folder],
])('refuses a file when others may write to %s', async (_what, open) => {
  writeFileSync(file, 'debug: on\n', { mode: 0o600 });
  chmodSync(open(), 0o777);
  const { code, message, problems } = await failure(file);
  const nextStep = 'remove that right with chmod go-w';
  expect({ code, problems }).toMatchObject({ code: 'insecure', problems: [{ nextStep }] });
  expect(message).toContain('group or others can write to it (mode 0777), expected a file that');
  expect(message.endsWith(`; ${nextStep}`)).toBe(true);
});

it('refuses a link that others can replace, though they cannot change what it leads to', async () => {
  writeFileSync(file, 'listen: linked\n', { mode: 0o600 });
  mkdirSync(join(folder, 'open'));
  symlinkSync(file, join(folder, 'open', 'link'));
  chmodSync(join(folder, 'open'), 0o777);
  expect((await failure(join(folder, 'open', 'link'))).code).toBe('insecure');
});

it('follows a symbolic link to a file', async () => {
  writeFileSync(file, 'listen: linked\n', { mode: 0o600 });
  symlinkSync('config', join(folder, 'link'));
  expect((await loadConfig(join(folder, 'link'))).config.listen).toBe('linked');
});

it('passes on strictness', async () => {
  writeFileSync(file, 'porxy: x\n', { mode: 0o600 });
  await expect(loadConfig(file)).resolves.toMatchObject({ found: true });
  await expect(loadConfig(file, { strict: true })).rejects.toMatchObject({ code: 'invalid' });
});

it('is called again to reload: each call tells the file as it then is', async () => {
  writeFileSync(file, 'listen: first\n', { mode: 0o600 });
  const good = await loadConfig(file);
  writeFileSync(file, 'listen: [');
  expect(await failure(file)).toMatchObject({ code: 'invalid' });
  writeFileSync(file, 'listen: second\n');
  expect((await loadConfig(file)).config.listen).toBe('second');
  expect(good.config.listen).toBe('first');
});

it.each([
  ['a directory', (path: string) => mkdirSync(path), 'notRegularFile', 'a folder'],
  [
    'a FIFO that nobody writes to',
    (path: string) => spawnSync('/usr/bin/mkfifo', [path]),
    'notRegularFile',
    'a device, a pipe or a socket',
  ],
  [
    'a link to nothing',
    (path: string) => symlinkSync('gone', path),
    'notRegularFile',
    'a symbolic link to nothing',
  ],
  [
    'a link to itself',
    (path: string) => symlinkSync('config', path),
    'notRegularFile',
    'a loop of symbolic links',
  ],
  [
    'a device',
    (path: string) => symlinkSync('/dev/zero', path),
    'notRegularFile',
    'a device, a pipe or a socket',
  ],
  [
    'a file that all may write',
    (path: string) => {
      writeFileSync(path, '');
      chmodSync(path, 0o646);
    },
    'insecure',
    'group or others can write to it (mode 0646)',
  ],
  [
    'a file above 1 MiB',
    (path: string) => writeFileSync(path, '#'.repeat(1024 * 1024 + 1), { mode: 0o600 }),
    'tooLarge',
    '1048577 bytes',
  ],
])('refuses %s', async (_name, make, code, found) => {
  make(file);
  const error = await failure(file);
  expect(error.code).toBe(code);
  expect(error.problems).toMatchObject([{ code, file, severity: 'error' }]);
  expect(error.problems[0]?.found).toContain(found);
  expect(error.message).toContain(file);
});

it('accepts a file of exactly 1 MiB', async () => {
  writeFileSync(file, '#'.repeat(1024 * 1024), { mode: 0o600 });
  await expect(loadConfig(file)).resolves.toMatchObject({ found: true });
});

it('refuses a socket', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(file, resolve));
  const { code, cause } = await failure(file);
  await new Promise((resolve) => server.close(resolve));
  expect(code).toBe('notRegularFile');
  expect(cause).toMatchObject({ code: 'ENXIO' });
});

it('reads a file that does not tell its size', async () => {
  const { warnings } = await loadConfig('/proc/self/status');
  expect(warnings.some(({ code }) => code === 'unknownKey')).toBe(true);
});

it('tells apart what is missing and a path that leads through a file or holds NUL', async () => {
  writeFileSync(file, '');
  expect((await failure(join(file, 'inside'))).code).toBe('notFound');
  expect((await failure('a\0b')).code).toBe('notFound');
});

it('names a file that may not be read', async () => {
  writeFileSync(file, '', { mode: 0o600 });
  chmodSync(file, 0);
  // Read as the user `nobody`, because root can read every file.
  const asRoot = process.geteuid?.() === 0;
  if (asRoot) {
    chmodSync(folder, 0o755);
    process.seteuid?.(65534);
  }
  try {
    const { code, cause } = await failure(file);
    expect(code).toBe('accessDenied');
    expect(cause).toMatchObject({ code: 'EACCES' });
  } finally {
    if (asRoot) process.seteuid?.(0);
  }
});

it('looks where the original does by default', () => {
  expect(defaultConfigPath('win32')).toBe('c:/etc/rancher/wins/config');
  expect(defaultConfigPath('linux')).toBe('/etc/rancher/wins/config');
});

it('refuses a missing file that must exist, and says what to do', async () => {
  const loading = loadConfig('/no/such/config', { mustExist: true });
  await expect(loading).rejects.toMatchObject({
    code: 'notFound',
    message:
      '/no/such/config: found no such file, expected a config file; write it, or name another one with --config',
  });
});

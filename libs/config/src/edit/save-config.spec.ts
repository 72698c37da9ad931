import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, saveConfig } from '../index.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wins-config-'));
  file = join(folder, 'config');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('changes the file in place, keeps its mode, and leaves nothing else behind', async () => {
  writeFileSync(file, '\uFEFF# top\r\ndebug: off # x\r\nmine: [1]\r\n', { mode: 0o640 });
  await saveConfig(file, { debug: true, 'white_list.proxyPorts': [9796] });
  expect(readFileSync(file, 'utf8')).toBe(
    '\uFEFF# top\r\ndebug: true # x\r\nmine: [1]\r\nwhite_list:\r\n  proxyPorts:\r\n    - 9796\r\n',
  );
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder)).toEqual(['config']);
  expect((await loadConfig(file)).config.whiteList.proxyPorts).toEqual([9796]);
});

it('writes UTF-16 to a file that is in UTF-16', async () => {
  writeFileSync(file, Buffer.from('\uFEFFdebug: off\r\n', 'utf16le'), { mode: 0o600 });
  await saveConfig(file, { debug: true });
  expect(readFileSync(file)).toEqual(Buffer.from('\uFEFFdebug: true\r\n', 'utf16le'));
});

it('makes a missing file, for its owner alone', async () => {
  await saveConfig(file, { listen: 'x' });
  expect(readFileSync(file, 'utf8')).toBe('listen: "x"\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('puts a new file in the place of the old, so that who has that open reads the old to its end', async () => {
  writeFileSync(file, 'debug: off\n', { mode: 0o600 });
  const before = statSync(file).ino;
  await saveConfig(file, { debug: true });
  expect(statSync(file).ino).not.toBe(before);
});

it('writes nothing when nothing changes', async () => {
  writeFileSync(file, 'debug: on\n', { mode: 0o600 });
  const before = statSync(file).ino;
  await saveConfig(file, {});
  expect(statSync(file).ino).toBe(before);
  await saveConfig(file, { listen: null });
  expect(statSync(file).ino).toBe(before);
});

it('replaces the target of a link, and the link stays', async () => {
  mkdirSync(join(folder, 'real'));
  const target = join(folder, 'real', 'config');
  writeFileSync(target, 'debug: off\n', { mode: 0o600 });
  symlinkSync('real/config', file);
  await saveConfig(file, { debug: true });
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readFileSync(target, 'utf8')).toBe('debug: true\n');
  expect(readdirSync(join(folder, 'real'))).toEqual(['config']);
});

it.each([
  ['a change that is not valid', { listen: '' }, 'invalid'],
  ['a key that is not known', { lisen: 'x' }, 'invalid'],
])('leaves the file as it is after %s', async (_name, changes, code) => {
  writeFileSync(file, 'debug: off\n', { mode: 0o600 });
  await expect(saveConfig(file, changes)).rejects.toMatchObject({ code, problems: [{ file }] });
  expect(readFileSync(file, 'utf8')).toBe('debug: off\n');
  expect(readdirSync(folder)).toEqual(['config']);
});

it('does not build on a file that others may write', async () => {
  writeFileSync(file, 'debug: off\n');
  chmodSync(file, 0o666);
  await expect(saveConfig(file, { debug: true })).rejects.toMatchObject({ code: 'insecure' });
  expect(readFileSync(file, 'utf8')).toBe('debug: off\n');
});

it('needs the folder', async () => {
  await expect(saveConfig(join(folder, 'no', 'config'), { debug: true })).rejects.toMatchObject({
    code: 'notFound',
    cause: { code: 'ENOENT' },
  });
});

it('never lets a reader see half a file', async () => {
  const paths = (count: number) =>
    Array.from({ length: count }, (_, index) => `c:/folder/${index}.exe`);
  await saveConfig(file, { 'white_list.processPaths': paths(300) });
  const saves = (async () => {
    for (let round = 0; round < 10; round++)
      await saveConfig(file, { 'white_list.processPaths': paths(round % 2 === 0 ? 1 : 300) });
    return 'done';
  })();
  const seen = new Set<number>();
  for (let state = 'busy'; state !== 'done';) {
    const [now, { config }] = await Promise.all([
      Promise.race([saves, Promise.resolve('busy')]),
      loadConfig(file),
    ]);
    seen.add(config.whiteList.processPaths.length);
    state = now;
  }
  expect([1, 300]).toEqual(expect.arrayContaining([...seen]));
});

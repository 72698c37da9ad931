import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { executionEnvironment } from './execute.js';
import { findCommand, type CommandSearch } from './find-command.js';

let root: string;
let search: CommandSearch;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'find-command-'));
  for (const folder of ['a', 'b', 'execution']) mkdirSync(path.join(root, folder));
  search = {
    folder: path.join(root, 'execution'),
    searchPath: [path.join(root, 'a'), path.join(root, 'b')],
    extensions: ['.EXE'],
    isWindows: false,
  };
});
afterEach(() => rmSync(root, { recursive: true }));

const program = (...names: string[]): string => {
  const file = path.join(root, ...names);
  writeFileSync(file, '', { mode: 0o755 });
  return file;
};

describe('a command', () => {
  it('with an absolute path is that', async () => {
    expect(await findCommand('/bin/sh', search)).toBe('/bin/sh');
  });

  it('with a relative folder is in the folder of the execution', async () => {
    expect(await findCommand('./run.sh', search)).toBe(path.join(root, 'execution', 'run.sh'));
    expect(await findCommand('bin/x', search)).toBe(path.join(root, 'execution', 'bin', 'x'));
  });

  it('without a folder is the first program of that name in the search path', async () => {
    writeFileSync(path.join(root, 'a', 'tool'), '', { mode: 0o644 });
    mkdirSync(path.join(root, 'a', 'folder'));
    const tool = program('b', 'tool');
    const folder = program('b', 'folder');
    expect(await findCommand('tool', search)).toBe(tool);
    expect(await findCommand('folder', search)).toBe(folder);
  });

  it('is never looked for in the current folder, that of the execution, or a relative entry', async () => {
    program('execution', 'tool');
    const searchPath = ['', '.', path.relative(process.cwd(), path.join(root, 'execution'))];
    await expect(findCommand('tool', { ...search, searchPath })).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('there is no such program in the PATH') as string,
    });
  });

  it('on Windows has an extension added where it has none', async () => {
    program('b', 'tool');
    const tool = program('b', 'tool.EXE');
    const named = program('b', 'tool.txt');
    const windows = { ...search, isWindows: true };
    expect(await findCommand(tool.slice(0, -'.EXE'.length), windows)).toBe(tool);
    expect(await findCommand(named, windows)).toBe(named);
    expect(await findCommand('/no/such', windows)).toBe('/no/such');
  });

  it('on Windows has an extension added behind a version, too', async () => {
    const tool = program('b', 'tool-1.2.EXE');
    const windows = { ...search, isWindows: true };
    expect(await findCommand(tool.slice(0, -'.EXE'.length), windows)).toBe(tool);
  });

  it('with a NUL is refused', async () => {
    await expect(findCommand('/bin/sh\0x', search)).rejects.toMatchObject({ code: 'refused' });
  });

  it.each(['C:tool.exe', 'sub\\C:x'])('on Windows with the path %s is refused', async (command) => {
    const found = findCommand(command, { ...search, isWindows: true });
    await expect(found).rejects.toMatchObject({ code: 'refused' });
  });

  it.each([
    ['C:\\Windows\\powershell.exe', 'C:\\Windows\\powershell.exe'],
    ['bin\\x.exe', 'C:\\work\\bin\\x.exe'],
    ['bin/x.exe', 'C:\\work\\bin\\x.exe'],
  ])('on Windows with the path %s is %s', async (command, wanted) => {
    const found = await findCommand(command, { ...search, folder: 'C:\\work', isWindows: true });
    expect(found).toBe(wanted);
  });
});

describe('the environment of an execution', () => {
  const environment = { LANG: 'C', Path: 'agent', OWN: 'agent' };
  const env = ['A=1', 'A=2', 'NOEQ', '$env:X="v"', 'own=plan', 'EMPTY='];
  const run = { command: { env }, attempt: 3 };

  it('has each name once, the last of them, and what is no variable as it is', () => {
    const searchPath = ['/usr/bin', '/bin'];
    expect(executionEnvironment(run, '/run/x', { environment, searchPath }, false)).toEqual([
      'LANG=C',
      'Path=agent',
      'OWN=agent',
      'A=2',
      'NOEQ',
      '$env:X="v"',
      'own=plan',
      'EMPTY=',
      'CATTLE_AGENT_EXECUTION_PWD=/run/x',
      'CATTLE_AGENT_ATTEMPT_NUMBER=3',
      'PATH=/usr/bin:/bin:/run/x',
    ]);
  });

  it('on Windows has names in any case once, and semicolons in its PATH', () => {
    const searchPath = ['C:\\Windows'];
    const entries = executionEnvironment(run, 'C:\\x', { environment, searchPath }, true);
    expect(entries).toContain('own=plan');
    expect(entries).toContain('PATH=C:\\Windows;C:\\x');
    expect(entries.filter((entry) => /^(?:path|own)=/i.test(entry))).toHaveLength(2);
  });
});

import { doubtAllowedExecutables } from './executable-policy.js';

const TOLD_APART = { tellsCallersApart: true };

it.each([
  'C:\\x\\PowerShell.exe',
  'C:\\x\\cmd.EXE',
  'C:\\x\\python3.12.exe',
  'C:\\x\\wins.exe',
  'C:\\x\\sc.exe',
])('doubts %j with any arguments, and no longer with a rule', (path) => {
  expect(doubtAllowedExecutables([{ path }], 'windows', TOLD_APART)).toMatchObject([
    { index: 0, path },
  ]);
  expect(doubtAllowedExecutables([{ path, args: [['-v']] }], 'windows', TOLD_APART)).toEqual([]);
});

it('doubts any variables, and no program of its own kind', () => {
  const path = '/opt/nodeagent';
  expect(doubtAllowedExecutables([{ path }], 'posix', TOLD_APART)).toEqual([]);
  expect(doubtAllowedExecutables([{ path, envs: 'any' }], 'posix', TOLD_APART)).toMatchObject([
    { found: expect.stringContaining('envs: any') as string },
  ]);
});

it('finds an entry for callers whom the system cannot tell apart', () => {
  const entries = [{ path: '/a/b' }, { path: '/a/c', for: ['user:0'] }];
  expect(doubtAllowedExecutables(entries, 'posix', TOLD_APART)).toEqual([]);
  expect(doubtAllowedExecutables(entries, 'posix', { tellsCallersApart: false })).toMatchObject([
    { index: 1, found: expect.stringContaining('it can never run') as string },
  ]);
});

it('doubts a path with a no-break space, which pasted text may have', () => {
  const path = '/opt/two\u00a0words';
  const [doubt] = doubtAllowedExecutables([{ path }], 'posix', TOLD_APART);
  expect(doubt).toMatchObject({ path, found: 'it has an unusual blank, as in pasted text' });
  expect(doubtAllowedExecutables([{ path: '/opt/two words' }], 'posix', TOLD_APART)).toEqual([]);
});

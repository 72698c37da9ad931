import {
  isOwnCopy,
  markOfCopy,
  nameKey,
  ownCopyOf,
  parsePath,
  processName,
  stagedPathOf,
} from './parsed-path.js';

describe('processName', () => {
  it.each([
    ['nginx.exe', 'rancher-wins-nginx'],
    ['nginx', 'rancher-wins-nginx'],
    ['exe.exe', 'rancher-wins-exe'],
    ['x.exe.EXE', 'rancher-wins-x.exe'],
    ['axe', 'rancher-wins-axe'],
    ['.exe', 'rancher-wins-.exe'],
  ])('drops only a real .exe: %s becomes %s', (baseName, name) => {
    expect(processName(baseName)).toBe(name);
  });

  it('compares names without ASCII case on Windows alone', () => {
    expect(nameKey('rancher-wins-A', 'windows')).toBe('rancher-wins-a');
    expect(nameKey('rancher-wins-A', 'posix')).toBe('rancher-wins-A');
  });

  it.each([
    ['windows', 'c:/etc/a.exe', 'C:\\etc\\rancher-wins-a.exe'],
    ['posix', '/opt/tool', '/opt/rancher-wins-tool'],
    ['posix', '/tool', '/rancher-wins-tool'],
  ] as const)('puts the verified copy beside the original on %s', (dialect, path, staged) => {
    const parsed = parsePath(path, dialect);
    expect('refused' in parsed ? parsed : stagedPathOf(parsed)).toBe(staged);
  });

  it.each([
    ['rancher-wins-a.exe', 'rancher-wins-a.0123abcd.exe'],
    ['rancher-wins-tool', 'rancher-wins-tool.0123abcd'],
    ['rancher-wins-P.sh', 'rancher-wins-P.sh.0123abcd'],
  ])('gives the copy %s of one run a name of its own, and knows it again', (staged, own) => {
    const mark = '0123abcd'.padEnd(32, 'e');
    expect(ownCopyOf(staged, mark)).toBe(own);
    expect([isOwnCopy(own, mark), isOwnCopy(staged, mark)]).toEqual([true, false]);
    expect(markOfCopy(own, staged)).toBe('0123abcd');
    for (const other of [staged, `${own}x`, own.replace('0123', 'XYZ-')])
      expect(markOfCopy(other, staged)).toBeUndefined();
  });
});

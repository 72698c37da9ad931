import { localPath } from './canonical-path.js';

describe('the path of a file of this host', () => {
  it.each([
    ['win32', 'c:/etc/rancher/wins/wins.exe', 'c:\\etc\\rancher\\wins\\wins.exe'],
    ['win32', 'C:\\a\\..\\b.exe', 'C:\\b.exe'],
    ['linux', '/etc//rancher/wins/./wins', '/etc/rancher/wins/wins'],
  ] as const)('on %s: %j is %j', (platform, written, path) => {
    expect(localPath(written, platform)).toBe(path);
  });

  it.each([
    ['win32', 'wins.exe'],
    ['win32', 'c:wins.exe'],
    ['win32', '\\wins.exe'],
    ['win32', '\\\\server\\share\\wins.exe'],
    ['win32', '\\\\?\\C:\\wins.exe'],
    ['linux', 'wins'],
    ['linux', 'c:/wins'],
  ] as const)('on %s: %j is none', (platform, written) => {
    expect(localPath(written, platform)).toBeUndefined();
  });
});

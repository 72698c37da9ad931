import { onSystemDrive } from './on-system-drive.js';

describe('onSystemDrive', () => {
  it.each([
    ['/var/lib/rancher/agent', 'D:/var/lib/rancher/agent'],
    ['\\var\\lib', 'D:\\var\\lib'],
    ['/', 'D:/'],
    ['C:/var', 'C:/var'],
    ['c:\\var', 'c:\\var'],
    ['C:var', 'C:var'],
    ['//server/share/x', '//server/share/x'],
    ['\\\\server\\share\\x', '\\\\server\\share\\x'],
    ['\\\\?\\C:\\x', '\\\\?\\C:\\x'],
    ['/\\server\\share', '/\\server\\share'],
    ['var/lib', 'var/lib'],
    ['', ''],
  ])('takes %j of Windows for %j', (file, meant) => {
    expect(onSystemDrive(file, 'win32', 'D:')).toBe(meant);
  });

  it.each(['', 'D', 'D:\\', '\\\\x'])('lies on C: where %j is said to be the drive', (drive) => {
    expect(onSystemDrive('/var', 'win32', drive)).toBe('C:/var');
  });

  it.each(['linux', 'darwin'] as const)('leaves every path of %s as it is', (platform) => {
    expect(onSystemDrive('/var/lib', platform, 'D:')).toBe('/var/lib');
  });
});

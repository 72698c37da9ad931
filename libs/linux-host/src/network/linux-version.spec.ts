import { linuxVersion, parseOsRelease } from './linux-version.js';

describe('the version of a Linux system', () => {
  it('is told in the words of Windows', () => {
    const osRelease = 'NAME="Debian GNU/Linux"\nVERSION_ID="12"\nID=debian\n';
    const kernel = { kernelRelease: '6.1.76-18-amd64', kernelVersion: '#1 SMP Debian 6.1.76-1' };
    expect(linuxVersion({ osRelease, ...kernel })).toEqual({
      currentMajorVersionNumber: '6',
      currentMinorVersionNumber: '1',
      currentBuildNumber: '76',
      ubr: '0',
      releaseId: '12',
      buildLabEx: 'debian 6.1.76-18-amd64 #1 SMP Debian 6.1.76-1',
      currentBuild: '76',
    });
  });

  it('is told as far as it is known', () => {
    expect(linuxVersion({ osRelease: '', kernelRelease: '6.1', kernelVersion: '' })).toMatchObject({
      currentBuildNumber: '0',
      releaseId: '',
      buildLabEx: 'linux 6.1',
    });
  });

  it.each([
    ['A=b', 'b'],
    ['A="b c"', 'b c'],
    ["A='b c'", 'b c'],
    ['A="b\\"c\\$d"', 'b"c$d'],
    ['A=', ''],
    ['A=b\r', 'b'],
  ])('is read from lines of os-release: %j', (line, value) => {
    expect(parseOsRelease(`# a comment\n${line}\nB=c`).get('A')).toBe(value);
  });
});

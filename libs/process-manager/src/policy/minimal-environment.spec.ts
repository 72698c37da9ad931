import { minimalEnvironment } from './child-environment.js';

const SECRETS = { AWS_SECRET_ACCESS_KEY: 's3cret', HOME: '/root', PATH: '/evil', LD_PRELOAD: '/x' };

describe('minimalEnvironment', () => {
  it('hands nothing of the daemon on but its time zone (A41)', () => {
    const own = { ...SECRETS, TZ: 'Europe/Vienna' };
    expect(minimalEnvironment({ dialect: 'posix', own, temporaryDirectory: '/t' })).toEqual({
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LANG: 'C.UTF-8',
      HOME: '/nonexistent',
      TZ: 'Europe/Vienna',
    });
  });

  it('takes of Windows where things are, in any case of the names, and nothing else (A41)', () => {
    const own = {
      ...SECRETS,
      USERPROFILE: 'C:\\Users\\admin',
      TEMP: 'C:\\Windows\\TEMP',
      systemroot: 'D:\\Win',
      NUMBER_OF_PROCESSORS: '4',
      'ProgramFiles(x86)': 'D:\\PF86',
    };
    const found = minimalEnvironment({ dialect: 'windows', own, temporaryDirectory: 'D:\\t' });
    expect(found).toEqual({
      SystemRoot: 'D:\\Win',
      windir: 'D:\\Win',
      SystemDrive: 'D:',
      ComSpec: 'D:\\Win\\System32\\cmd.exe',
      PATH: 'D:\\Win\\System32;D:\\Win;D:\\Win\\System32\\Wbem;D:\\Win\\System32\\WindowsPowerShell\\v1.0',
      PATHEXT: '.COM;.EXE;.BAT;.CMD;.VBS;.VBE;.JS;.JSE;.WSF;.WSH;.MSC',
      ProgramData: 'D:\\ProgramData',
      'ProgramFiles(x86)': 'D:\\PF86',
      NUMBER_OF_PROCESSORS: '4',
      OS: 'Windows_NT',
      TEMP: 'D:\\t',
      TMP: 'D:\\t',
    });
  });
});

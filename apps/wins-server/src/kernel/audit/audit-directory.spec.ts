import { auditDirectoryOf } from '../../kept-directory.js';

describe('the folder of an audit log', () => {
  it.each<[string, string | undefined, NodeJS.Platform, string]>([
    ['/tmp/a/pipe', undefined, 'linux', '/tmp/a/pipe.audit'],
    ['/run/rancher-wins/wins', undefined, 'linux', '/var/lib/rancher-wins/audit/wins'],
    ['wins', undefined, 'linux', '/tmp/run/wins.audit'],
    ['wins', '/var/log/wins', 'linux', '/var/log/wins/wins'],
    ['/tmp/a/pipe', '/var/log/wins', 'linux', '/var/log/wins/%2f;tmp%2f;a%2f;pipe'],
    ['wins', undefined, 'win32', 'D:\\Data\\rancher\\wins\\audit\\wins'],
    ['npipe:////./pipe/a:b', 'C:\\audit', 'win32', 'C:\\audit\\a%3a;b'],
  ])('of a daemon at %s with audit.directory %s on %s is %s', (listen, directory, platform, is) => {
    const environment = { WINS_RUNTIME_DIR: '/tmp/run', ProgramData: 'D:\\Data' };
    const audit = directory === undefined ? {} : { directory };
    expect(auditDirectoryOf({ listen, audit }, platform, environment)).toBe(is);
  });

  it('outlives the system where the socket is in the run directory of root', () => {
    const config = { listen: 'wins', audit: {} };
    const environment = { WINS_RUNTIME_DIR: '/run/rancher-wins' };
    expect(auditDirectoryOf(config, 'linux', environment)).toBe('/var/lib/rancher-wins/audit/wins');
  });
});

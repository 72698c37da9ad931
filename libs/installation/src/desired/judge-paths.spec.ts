import { settingsFromEnvironment } from './environment-settings.js';
import { sucSettingsFromEnvironment } from './desired-installation.js';

const LOCAL = { CATTLE_REMOTE_ENABLED: 'false', CATTLE_LOCAL_ENABLED: 'true' };

describe('a chosen folder', () => {
  it.each([
    ['C:\\', 'a system folder'],
    ['D:/', 'a system folder'],
    ['c:/windows', 'a system folder'],
    ['C:\\Windows\\System32\\config', 'a system folder'],
    ['C:\\Program Files', 'a system folder'],
    ['C:\\ProgramData', 'a system folder'],
    ['C:\\Users\\', 'a system folder'],
    ['C:\\ProgramData\\rancher-wins-install', 'the folder of the manifest'],
    ['C:\\ProgramData\\RANCHER-wins-install\\x', 'the folder of the manifest'],
    ['C:\\ProgramData\\rancher-wins-install\\..x', 'the folder of the manifest'],
    ['C:\\var\\lib\\rancher', 'a folder that contains the folder of the programs'],
    ['C:\\var\\lib\\rancher\\rke2', 'a folder that contains the folder of the programs'],
    ['C:\\usr', 'a folder that contains the folder of the programs'],
    ['C:\\usr\\local\\bin', 'a folder that contains the folder of the programs'],
  ])('is refused as %s, because others need it: %s', (folder, found) => {
    for (const name of ['CATTLE_AGENT_CONFIG_DIR', 'CATTLE_AGENT_VAR_DIR'])
      expect(() => settingsFromEnvironment({ ...LOCAL, [name]: folder }, {}, 'win32')).toThrow(
        `cannot read ${name}: found ${found}`,
      );
    const environment = { CATTLE_AGENT_CONFIG_DIR: folder };
    expect(() => sucSettingsFromEnvironment(environment, { platform: 'win32' })).toThrow(found);
  });

  it.each([
    ['CATTLE_AGENT_CONFIG_DIR', 'C:\\var\\lib\\rancher\\agent\\work', 'the agent empties'],
    ['CATTLE_AGENT_CONFIG_DIR', 'C:\\var\\lib\\rancher\\agent\\applied\\x', 'the agent empties'],
    ['CATTLE_AGENT_BIN_PREFIX', 'C:\\ProgramData\\rancher-wins-install', 'that is removed'],
  ])('is refused inside a folder that is emptied or removed: %s as %s', (name, folder, found) => {
    expect(() => settingsFromEnvironment({ ...LOCAL, [name]: folder }, {}, 'win32')).toThrow(found);
  });

  it.each([
    ['CATTLE_AGENT_CONFIG_DIR', 'D:\\rancher'],
    ['CATTLE_AGENT_CONFIG_DIR', 'C:\\Program Files\\rancher wins'],
    ['CATTLE_AGENT_CONFIG_DIR', 'C:\\windows-config'],
    ['CATTLE_AGENT_VAR_DIR', 'C:\\etc\\rancher\\wins'],
    ['CATTLE_AGENT_BIN_PREFIX', 'C:\\Windows'],
    ['CATTLE_AGENT_BIN_PREFIX', 'C:\\'],
  ])('may be any other: %s as %s', (name, folder) => {
    expect(settingsFromEnvironment({ ...LOCAL, [name]: folder }, {}, 'win32')).toBeDefined();
  });

  it('of POSIX is no folder of the system either', () => {
    for (const folder of ['/', '/etc', '/usr/local', '/var/lib'])
      expect(() =>
        settingsFromEnvironment({ ...LOCAL, CATTLE_AGENT_VAR_DIR: folder }, {}, 'linux'),
      ).toThrow('CATTLE_AGENT_VAR_DIR');
  });
});

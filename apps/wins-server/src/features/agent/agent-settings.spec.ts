import { parseConfig } from '@wins/config';
import { agentSettings } from './agent-settings.js';

const read = (text: string, platform: NodeJS.Platform = 'win32') =>
  agentSettings(parseConfig(text, { platform }).config, platform);

describe('the settings of the agent', () => {
  it('are off without a section, and when nothing is turned on', () => {
    expect(read('')).toEqual({ reason: 'the config has no section systemagent' });
    expect(read('systemagent: {workDirectory: C:/work}')).toEqual({
      reason: 'neither remoteEnabled nor localEnabled is true',
      keyPath: 'systemagent',
    });
  });

  it('have the paths of Rancher where the config says nothing', () => {
    expect(read('systemagent: {remoteEnabled: true}\nagentStrictTLSMode: true')).toEqual({
      workDirectory: 'C:/var/lib/rancher/agent/work',
      preserveWorkDirectory: false,
      appliedPlanDirectory: 'C:/var/lib/rancher/agent/applied',
      imagesDirectory: 'C:/var/lib/rancher/agent/images',
      connectionInfoFile: 'C:/var/lib/rancher/agent/rancher2_connection_info.json',
      isStrict: true,
    });
    expect(read('systemagent: {localEnabled: true}', 'linux')).toMatchObject({
      localPlanDirectory: '/var/lib/rancher/agent/plans',
      isStrict: false,
    });
  });

  it('have credential providers where the config names theirs', () => {
    const keys = 'imageCredentialProviderBinDirectory: C:/bin';
    expect(read(`systemagent: {localEnabled: true, ${keys}}`)).not.toHaveProperty(
      'credentialProviders',
    );
    const all = `${keys}, imageCredentialProviderConfig: C:/c.yaml`;
    expect(read(`systemagent: {localEnabled: true, ${all}}`)).toMatchObject({
      credentialProviders: { configFile: 'C:/c.yaml', binDirectory: 'C:/bin' },
    });
    expect(
      read(`systemagent: {localEnabled: true, imageCredentialProviderConfig: c.yaml}`),
    ).toMatchObject({ keyPath: 'systemagent.imageCredentialProviderConfig' });
  });

  it.each([
    ['/opt/rancher/agent', 'C:/opt/rancher/agent'],
    ['\\opt\\rancher', 'C:\\opt\\rancher'],
    ['//server/agent', '//server/agent'],
  ])('take %s of a cluster-wide config on Windows for %s', (written, meant) => {
    const locations = `workDirectory: '${written}', connectionInfoFile: '${written}'`;
    const text = `systemagent: {remoteEnabled: true, ${locations}}`;
    expect(read(text)).toMatchObject({ workDirectory: meant, connectionInfoFile: meant });
  });

  it.each([
    ['work', 'win32'],
    ['C:work', 'win32'],
    ['./work', 'linux'],
    ['C:/work', 'linux'],
  ] as const)('are off with the path %s on %s, which is not absolute', (value, platform) => {
    const text = `systemagent: {remoteEnabled: true, workDirectory: ${JSON.stringify(value)}}`;
    expect(read(text, platform)).toMatchObject({ keyPath: 'systemagent.workDirectory' });
  });
});

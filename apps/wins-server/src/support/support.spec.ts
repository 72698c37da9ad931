import { ConfigHistory, parseConfig } from '@wins/config';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { localDoctorHost } from '../doctor/local-doctor-host.js';
import { shownCommand } from '../doctor/service-finding.js';
import { posix } from '../posix.js';
import { makeSupportBundle } from './command.js';
import { cleanerOf, knownSecrets } from './cleaner.js';
import { maskedConfig, supportSource } from './support-source.js';

describe('a config for those who help', () => {
  const text = `
processEnvironment: { TOKEN: canary-variable }
csi-proxy:
  url: https://host/csi-%s.tar.gz?signature=canary-query
  version: v1.0.0
  kubeletPath: /kubelet
  args: [-token=canary-argument]
white_list:
  processPaths:
    - { path: /opt/tool, args: [[--password, canary-pattern]], envs: [NAME] }
`;
  it('has the names of variables and none of the values that may be secrets', () => {
    const loaded = { ...parseConfig(text, { platform: 'linux' }), path: '/c', found: true };
    const shown = JSON.stringify(maskedConfig(loaded));
    expect(shown).not.toContain('canary');
    for (const told of ['TOKEN', 'https://host/csi-%s.tar.gz', '/opt/tool', '1 entries', 'NAME'])
      expect(shown).toContain(told);
  });

  it('says where what is wrong is, and not what', () => {
    const loaded = { ...parseConfig('canary: 1', { platform: 'linux' }), path: '/c', found: true };
    expect(JSON.stringify(maskedConfig(loaded))).not.toContain('canary');
    expect(maskedConfig(loaded)).toMatchObject({
      warnings: [{ code: 'unknownKey', line: 1 }, { code: 'noWhiteList' }],
    });
  });

  it('provides its secrets for removal from the other files', () => {
    const { config } = parseConfig(text, { platform: 'linux' });
    const clean = cleanerOf(
      knownSecrets(config, {
        HTTPS_PROXY: 'http://user:canary-proxy@proxy:3128',
        PATH: '/bin',
      }),
    );
    const said = `canary-variable canary-query -token=canary-argument "canary-argument" canary-proxy
      https://me:canary-password@host/x?sig=canary-other#top http://host/plain`;
    expect(clean(said)).not.toContain('canary');
    expect(clean(said)).toContain('http://host/plain');
    expect(clean('/bin is left')).toBe('/bin is left');
  });
});

describe('the command line of a service', () => {
  it.each([
    ['"C:\\a b\\wins.exe" srv app run --config C:\\c --debug', undefined],
    [
      'wins.exe srv app run --token canary --log-files 5 --key=canary stray',
      'wins.exe srv app run --token [removed] --log-files 5 --key=[removed] [removed]',
    ],
    [
      'wins.exe "--token=canary a" "--key" canary --config "C:\\a b"',
      'wins.exe --token=[removed] "--key" [removed] --config "C:\\a b"',
    ],
  ])('%s is shown without what others may have put there', (line, shown = line) => {
    expect(shownCommand(line)).toBe(shown);
  });
});

it('removes the secrets of the config that is in force, although the file has become unusable', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-support-'));
  try {
    const file = path.join(folder, 'config');
    const served = `listen: ${folder}/pipe\nprocessEnvironment: { TOKEN: canary-variable }\n`;
    await new ConfigHistory(file, posix.fileTrust()).add('served', Buffer.from(served));
    writeFileSync(file, 'white_list: [');
    await using host = localDoctorHost({ config: file, executable: '', system: posix });
    const { clean, fault, listen, loaded } = await supportSource(file, host);
    expect(clean('a log with canary-variable')).toBe('a log with [removed]');
    expect(fault).toMatch(/^the config cannot be used: invalid\n/);
    expect([listen, loaded?.config.listen]).toEqual([`${folder}/pipe`, `${folder}/pipe`]);
    const { text } = await makeSupportBundle({ file: `${folder}/bundle`, config: file });
    expect(text).toContain('  without config.json: the config cannot be used: invalid\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

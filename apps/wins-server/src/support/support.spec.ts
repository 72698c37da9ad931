import { parseConfig } from '@wins/config';
import { posixFileTrust } from '@wins/trusted-files';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cleanerOf } from './known-secrets.js';
import { logTail } from '@wins/service-runtime';
import { maskedConfig } from './masked-config.js';
import { writePrivateFile } from './private-file.js';
import { shownCommand } from './service-facts.js';
import { makeMember } from './support-member.js';

const asItIs = (text: string): string => text;

describe('a member of a bundle', () => {
  it('that fails has the reason as its text', async () => {
    const make = () => Promise.reject(new Error('found no log with TOKEN'));
    const member = { name: 'log.jsonl', maxBytes: 100, make };
    const made = await makeMember(member, (text) => text.replace('TOKEN', '[removed]'));
    expect(made).toMatchObject({ name: 'log.jsonl.error.txt', isFailure: true });
    expect(String(made.content)).toBe('found no log with [removed]\n');
  });

  it('that is too long keeps its end, in whole lines', async () => {
    const lines = Array.from({ length: 100 }, (_, n) => `line ${n}\n`).join('');
    const member = { name: 'log.jsonl', maxBytes: 100, make: () => Promise.resolve(lines) };
    const { content, isCut } = await makeMember(member, asItIs);
    expect(isCut).toBe(true);
    expect(content.length).toBeLessThanOrEqual(100);
    expect(String(content)).toMatch(/^\(the beginning was cut off\)\n(line \d\d\n)+$/);
    expect(String(content)).toMatch(/line 99\n$/);
  });
});

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
    for (const told of ['TOKEN', 'https://host/csi-%s.tar.gz', '/opt/tool', '1 lists', 'NAME'])
      expect(shown).toContain(told);
  });

  it('says where what is wrong is, and not what', () => {
    const loaded = { ...parseConfig('canary: 1', { platform: 'linux' }), path: '/c', found: true };
    expect(JSON.stringify(maskedConfig(loaded))).not.toContain('canary');
    expect(maskedConfig(loaded)).toMatchObject({
      warnings: [{ code: 'unknownKey', line: 1 }, { code: 'noWhiteList' }],
    });
  });

  it('lends its secrets to what cleans the rest', () => {
    const { config } = parseConfig(text, { platform: 'linux' });
    const clean = cleanerOf(config, {
      HTTPS_PROXY: 'http://user:canary-proxy@proxy:3128',
      PATH: '/bin',
    });
    const said = `canary-variable canary-query -token=canary-argument canary-proxy
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
  ])('%s is shown without what others may have put there', (line, shown = line) => {
    expect(shownCommand(line)).toBe(shown);
  });
});

describe('the files of a bundle', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-support-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const trust = () => posixFileTrust();

  it('are private, and replace nothing (A88)', async () => {
    const file = path.join(folder, 'bundle');
    await writePrivateFile(file, Buffer.from('content'), trust);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const taken = { code: 'alreadyExists' };
    await expect(writePrivateFile(file, Buffer.from('x'), trust)).rejects.toMatchObject(taken);
    const linked = path.join(folder, 'link');
    symlinkSync(path.join(folder, 'elsewhere'), linked);
    await expect(writePrivateFile(linked, Buffer.from('x'), trust)).rejects.toMatchObject(taken);
    expect([readdirSync(folder).sort(), readFileSync(file, 'utf8')]).toEqual([
      ['bundle', 'link'],
      'content',
    ]);
  });

  it('have the newest lines of the log, of as many files as it takes', async () => {
    for (const number of [1, 2, 10])
      writeFileSync(path.join(folder, `wins.${number}.log`), `file ${number}\n`);
    expect(await logTail(folder, 1000)).toBe('file 1\nfile 2\nfile 10\n');
    expect(await logTail(folder, 15)).toBe('file 2\nfile 10\n');
    await expect(logTail(path.join(folder, 'none'), 1)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

import { ConfigError, parseConfig, type ConfigProblem } from '@wins/config';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { judgeConfig, type JudgingOptions } from './judge-config.js';

const OPTIONS: JudgingOptions = {
  ...{ platform: 'linux', isStrict: false, looksAtFiles: true },
  tellsClientsApart: () => true,
};

async function problemsOf(
  content: object,
  options: Partial<JudgingOptions> = {},
): Promise<readonly ConfigProblem[]> {
  const parsed = parseConfig(JSON.stringify(content), { platform: 'linux' });
  const loaded = { ...parsed, path: 'config', found: true };
  try {
    return (await judgeConfig(loaded, { ...OPTIONS, ...options })).warnings;
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
const CSI_PROXY = {
  ...{ url: 'https://example.com/%s', version: 'v1.1.3', kubeletPath: 'C:/k/kubelet.exe' },
};
const listing = (...processPaths: unknown[]) => ({ white_list: { processPaths } });

describe('a config is judged by what can never be', () => {
  it.each(['a/b', '/tmp/../x', ' x', '\\\\other\\pipe\\x'])('the pipe name %j', async (listen) => {
    const problems = await problemsOf({ listen, ...listing('/x') });
    expect(problems).toMatchObject([{ severity: 'error', keyPath: 'listen', line: 1 }]);
  });

  const folder = mkdtempSync(path.join(tmpdir(), 'wins-judge-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(['tool.sh', '../x', '/a/../b', '/opt/tool/', '/opt/*', folder])(
    'the entry %j: a warning for a daemon that starts, an error for who checks',
    async (entry) => {
      const [starts] = await problemsOf(listing('/x', entry));
      expect(starts).toMatchObject({
        ...{ severity: 'warning', keyPath: 'white_list.processPaths[1]', line: 1 },
        found: expect.stringMatching(/^"[^"]+": [a-z]/) as string,
        nextStep: expect.stringMatching(/./) as string,
      });
      const [checked] = await problemsOf(listing('/x', entry), { isStrict: true });
      expect(checked).toMatchObject({ severity: 'error', code: 'wrongValue' });
    },
  );

  it('in the words of the system that it is for', async () => {
    const onWindows = { platform: 'win32', isStrict: true, looksAtFiles: false } as const;
    expect(await problemsOf(listing('C:\\x.exe'), onWindows)).toEqual([]);
    expect(await problemsOf(listing('/x'), onWindows)).toMatchObject([{ severity: 'error' }]);
    expect(await problemsOf(listing(folder), { looksAtFiles: false })).toEqual([]);
  });
});

it('warns of the same program twice, once', async () => {
  const problems = await problemsOf(listing('/x', '/x', '//x'));
  expect(problems.map(({ code, keyPath }) => [code, keyPath])).toEqual([
    ['duplicateEntry', 'white_list.processPaths[1]'],
    ['duplicateEntry', 'white_list.processPaths[2]'],
  ]);
});

it.each([
  ['systemagent', { systemagent: { workDirectory: '/w' } }, /no plan is applied/],
  [
    'systemagent.workDirectory',
    { systemagent: { localEnabled: true, workDirectory: 'w' } },
    /no plan is applied/,
  ],
  [
    'systemagent.interlockDirectory',
    { systemagent: { localEnabled: true, interlockDirectory: '/i' } },
    /remove it/,
  ],
  ['csi-proxy', { 'csi-proxy': CSI_PROXY }, /remove it/],
])('warns of %s, which has no effect', async (keyPath, content, nextStep) => {
  const problems = await problemsOf({ ...content, ...listing('/x') });
  expect(problems).toMatchObject([{ severity: 'warning', code: 'noEffect', keyPath }]);
  expect(problems[0]?.nextStep).toMatch(nextStep);
});

it('has nothing against an agent that is on', async () => {
  expect(await problemsOf({ systemagent: { remoteEnabled: true }, ...listing('/x') })).toEqual([]);
});

it('says what is wrong with csi-proxy, as an error to who asks and as a warning to a daemon that starts', async () => {
  const content = {
    'csi-proxy': { ...CSI_PROXY, version: 'v2.0.0' },
    'tls-config': { insecure: true },
  };
  const keys = ['csi-proxy.version', 'tls-config.insecure'];
  const lenient = await problemsOf({ ...content, ...listing('C:/x.exe') }, { platform: 'win32' });
  const problems = lenient.filter(({ keyPath }) => /csi|tls/.test(keyPath));
  expect(problems.map(({ keyPath }) => keyPath)).toEqual(keys);
  expect(problems).toMatchObject([{ severity: 'warning', code: 'noEffect' }, {}]);
  const strict = await problemsOf(
    { ...content, ...listing('C:/x.exe') },
    { platform: 'win32', isStrict: true },
  );
  expect(
    strict.filter(({ severity }) => severity === 'error').map(({ keyPath }) => keyPath),
  ).toEqual(keys);
});

it('doubts an old csi-proxy, and has nothing against one that is right', async () => {
  const of = async (version: string) => {
    const found = await problemsOf(
      { 'csi-proxy': { ...CSI_PROXY, version }, ...listing('C:/x.exe') },
      { platform: 'win32' },
    );
    return found.map(({ code, keyPath }) => [code, keyPath]);
  };
  expect(await of('v1.1.3')).toEqual([]);
  expect(await of('v1.0.0')).toEqual([['doubtful', 'csi-proxy.version']]);
});

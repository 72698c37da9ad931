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
  ['csi-proxy', { 'csi-proxy': { url: 'u', version: 'v', kubeletPath: 'k' } }, /csi-proxy/],
])('warns of %s, which has no effect', async (keyPath, content, nextStep) => {
  const problems = await problemsOf({ ...content, ...listing('/x') });
  expect(problems).toMatchObject([{ severity: 'warning', code: 'noEffect', keyPath }]);
  expect(problems[0]?.nextStep).toMatch(nextStep);
});

it('has nothing against an agent that is on', async () => {
  expect(await problemsOf({ systemagent: { remoteEnabled: true }, ...listing('/x') })).toEqual([]);
});

import { ConfigError, parseConfig, type ConfigProblem } from '@wins/config';
import { posixFileTrust } from '@wins/trusted-files';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FEATURES } from '../features/features.js';
import type { JudgingOptions } from '../kernel/judging-options.js';
import { judgeConfig } from './judge-config.js';

const OPTIONS: JudgingOptions = {
  platform: 'linux',
  isStrict: false,
  host: {
    trust: posixFileTrust(),
    tellsClientsApart: () => true,
    pipeAccessFault: () => undefined,
  },
};
const ELSEWHERE = { host: undefined } as const;
const ON_WINDOWS = { platform: 'win32', isStrict: true, ...ELSEWHERE } as const;

async function problemsOf(
  content: object,
  options: Partial<JudgingOptions> = {},
): Promise<readonly ConfigProblem[]> {
  const { platform = 'linux' } = options;
  const parsed = parseConfig(JSON.stringify(content), { platform });
  const loaded = { ...parsed, path: 'config', found: true };
  try {
    return (await judgeConfig(loaded, { ...OPTIONS, ...options }, FEATURES)).warnings;
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
const CSI_PROXY = {
  url: 'https://example.com/%s',
  version: 'v1.1.3',
  kubeletPath: 'C:/k/kubelet.exe',
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
        severity: 'warning',
        keyPath: 'white_list.processPaths[1]',
        line: 1,
        found: expect.stringMatching(/^"[^"]+": [a-z]/) as string,
        nextStep: expect.stringMatching(/./) as string,
      });
      const [checked] = await problemsOf(listing('/x', entry), { isStrict: true });
      expect(checked).toMatchObject({ severity: 'error', code: 'wrongValue' });
    },
  );

  it('a program to keep that has the name of another: a warning for a daemon that starts, an error for who checks', async () => {
    const keep = [{ path: '/opt/x' }, { path: '/usr/x' }, { path: '/bin/x', name: 'y' }];
    const [starts] = await problemsOf({ ...listing('/x'), keep });
    expect(starts).toMatchObject({
      severity: 'warning',
      keyPath: 'keep[1]',
      found: 'it has the name of entry 0',
    });
    const [checked] = await problemsOf({ ...listing('/x'), keep }, { isStrict: true });
    expect(checked).toMatchObject({ severity: 'error', keyPath: 'keep[1]' });
  });

  it('in the words of the system that it is for', async () => {
    expect(await problemsOf(listing('C:\\x.exe'), ON_WINDOWS)).toEqual([]);
    expect(await problemsOf(listing('/x'), ON_WINDOWS)).toMatchObject([{ severity: 'error' }]);
    expect(await problemsOf(listing(folder), ELSEWHERE)).toEqual([]);
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

it('has nothing against an agent that is on, nor against its credential providers', async () => {
  const providers = {
    imageCredentialProviderConfig: '/etc/p.yaml',
    imageCredentialProviderBinDirectory: '/opt/bin',
  };
  const systemagent = { remoteEnabled: true, ...providers };
  expect(await problemsOf({ systemagent, ...listing('/x') })).toEqual([]);
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

describe('what only the start would find', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-judge-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, 'file'), '');
  mkdirSync(path.join(folder, 'open'));
  chmodSync(path.join(folder, 'open'), 0o777);
  const at = (...names: string[]): string => path.join(folder, ...names);

  const errorsOf = async (content: object, options: Partial<JudgingOptions> = {}) =>
    (await problemsOf({ ...content, ...listing() }, options)).filter(
      ({ severity }) => severity === 'error',
    );

  it.each<[object, string, RegExp]>([
    [{ pipeAccess: 'Everyone' }, 'pipeAccess', /"Everyone": its parts must be/],
    [{ pipeAccess: 'BUILTIN\\Users' }, 'pipeAccess', /its parts must be/],
    [{ pipeAccess: '(A;;GA;;;BA)' }, 'pipeAccess', /its parts must be/],
    [{ pipeAccess: 'D:P(A;;GA;;;XX)' }, 'pipeAccess', /"XX" is not an account/],
    [{ pipeAccess: 'O:BA' }, 'pipeAccess', /everyone might open/],
    [{ pipeAccess: 'D:' }, 'pipeAccess', /does not let SYSTEM read and write/],
    [{ pipeAccess: 'D:NO_ACCESS_CONTROL' }, 'pipeAccess', /everyone might open/],
    [{ audit: { directory: 'logs' } }, 'audit.directory', /"logs", which is relative/],
    [{ proxy: 'rancher_wins_admin' }, 'proxy', /the daemon's own pipe for administrators/],
    [{ listen: 'a', proxy: 'a_admin' }, 'proxy', /the daemon's own pipe for administrators/],
    [{ listen: 'x'.repeat(250) }, 'listen', /of \d+ allowed/],
    [
      { upgrade: { mode: 'watching', watchingPath: 'new/wins' } },
      'upgrade.watchingPath',
      /"new\/wins", which is relative/,
    ],
  ])('of %j is an error on every system', async (content, keyPath, found) => {
    for (const options of [{}, ELSEWHERE, { ...ON_WINDOWS, isStrict: false }]) {
      expect(await errorsOf(content, options)).toEqual([
        expect.objectContaining({
          keyPath,
          line: 1,
          found: expect.stringMatching(found) as string,
        }),
      ]);
    }
  });

  it.each<[object, string, RegExp]>([
    [{ listen: 'con' }, 'listen', /a folder with the name "con"/],
    [{ listen: '\u00e9'.repeat(100) }, 'listen', /characters, of 200 allowed/],
    [{ audit: { directory: 'var/log' } }, 'audit.directory', /relative/],
    [{ audit: { directory: 'C:log' } }, 'audit.directory', /relative/],
    [{ audit: { directory: 'C:\\logs\\aux' } }, 'audit.directory', /a folder with the name "aux"/],
    [{ audit: { directory: 'C:\\a|b' } }, 'audit.directory', /a folder with the name/],
    [{ proxy: 'Rancher_Wins_ADMIN' }, 'proxy', /for administrators/],
  ])('of %j is an error on Windows', async (content, keyPath, found) => {
    expect(await errorsOf(content, ON_WINDOWS)).toMatchObject([
      { keyPath, found: expect.stringMatching(found) as string },
    ]);
  });

  it('of an audit folder or socket that this host does not have is an error here alone', async () => {
    const cases: [object, string, RegExp][] = [
      [{ audit: { directory: at('file') } }, 'audit.directory', /it is not a folder/],
      [{ audit: { directory: at('open') } }, 'audit.directory', /others can write/],
      [{ audit: { directory: at('open', 'new') } }, 'audit.directory', /others can write/],
      [{ listen: at('file') }, 'listen', /not a socket/],
      [{ listen: at('open', 'pipe') }, 'listen', /others can write/],
      [{ proxy: at('file', 'pipe') }, 'proxy', /it is not a folder/],
      [{ proxy: at('no', 'no', 'pipe') }, 'proxy', /its folder .* does not exist/],
      [{ listen: at('a'), proxy: at('a.state') }, 'proxy', /the folder of its state/],
      [{ listen: at('a'), proxy: at('a.events') }, 'proxy', /the folder of its events/],
      [{ listen: at('a'), proxy: at('a.audit') }, 'proxy', /the folder of its audit log/],
    ];
    for (const [content, keyPath, found] of cases) {
      expect(await errorsOf(content)).toMatchObject([
        { keyPath, found: expect.stringMatching(found) as string },
      ]);
    }
    for (const [content] of cases.slice(0, 7))
      expect(await errorsOf(content, ELSEWHERE)).toEqual([]);
  });

  it('is nothing in the folders that daemons have', async () => {
    for (const content of [
      { audit: { directory: at('logs', 'new') } },
      { listen: at('pipe'), proxy: at('new', 'pipe') },
      { listen: 'rancher_wins_admin', proxy: 'rancher_wins' },
      { upgrade: { mode: 'watching' } },
    ])
      expect(await errorsOf(content)).toEqual([]);
  });

  it('warns of everybody who may command the host', async () => {
    const pipeAccess = 'D:P(A;;GA;;;SY)(A;;GA;;;WD)(A;;GA;;;AU)';
    const warned = (who: string) => ({
      severity: 'warning',
      code: 'doubtful',
      keyPath: 'pipeAccess',
      line: 1,
      found: expect.stringContaining(`it lets ${who}`) as string,
    });
    for (const options of [{}, ON_WINDOWS]) {
      const problems = await problemsOf({ pipeAccess, ...listing() }, options);
      expect(problems.filter(({ keyPath }) => keyPath === 'pipeAccess')).toMatchObject([
        warned('everyone'),
        warned('every authenticated user'),
      ]);
    }
  });

  it('asks the host about an access list that only it can judge', async () => {
    const host = {
      ...OPTIONS.host,
      pipeAccessFault: () => 'it knows no DA',
    } as JudgingOptions['host'];
    const pipeAccess = 'D:P(A;;GA;;;SY)(A;;0x12019b;;;DA)';
    expect(await errorsOf({ pipeAccess }, { host })).toMatchObject([{ keyPath: 'pipeAccess' }]);
    expect(await errorsOf({ pipeAccess })).toEqual([]);
  });
});

describe('the access to nodes of a cluster is judged', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-judge-nodes-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const kubeconfig = (user: string): string => `
current-context: c
contexts: [{ name: c, context: { cluster: c, user: c } }]
clusters: [{ name: c, cluster: { server: "https://cluster" } }]
users: [{ name: c, user: { ${user} } }]
`;
  const told = async (nodes: unknown, more: object = {}, options: Partial<JudgingOptions> = {}) =>
    (await problemsOf({ ...listing('/x'), hostNetwork: { nodes }, ...more }, options)).map(
      ({ severity, code, keyPath, found }) => `${severity} ${code} ${keyPath}: ${found}`,
    );

  it('by its kubeconfig, on the host that has it', async () => {
    const file = path.join(folder, 'nodes.yaml');
    const nodes = { kubeconfig: file };
    const prefix = `warning noEffect hostNetwork.nodes.kubeconfig: "${file}": `;
    expect(await told(nodes)).toEqual([`${prefix}there is no such file or folder`]);
    writeFileSync(file, kubeconfig('exec: { command: sh }'), { mode: 0o600 });
    expect(await told(nodes)).toEqual([
      expect.stringMatching(/"exec".*; wanted a kubeconfig that contains the authority/),
    ]);
    expect(await told(nodes, {}, ELSEWHERE)).toEqual([]);
    expect(await told({ ...nodes, enabled: false })).toEqual([]);
    writeFileSync(file, kubeconfig('token: secret'));
    expect(await told(nodes)).toEqual([]);
    chmodSync(file, 0o666);
    expect(await told(nodes)).toEqual([expect.stringMatching(/writ/)]);
  });

  it.each<[string, Partial<JudgingOptions>]>([
    ['nodes.yaml', {}],
    ['./nodes.yaml', ELSEWHERE],
    ['nodes.yaml', ON_WINDOWS],
  ])('and %j is refused, because it is relative', async (relative, options) => {
    const listed = options.platform === 'win32' ? listing('C:\\x.exe') : {};
    const [problem] = await told({ kubeconfig: relative }, listed, options);
    expect(problem).toMatch(/^error wrongValue hostNetwork\.nodes\.kubeconfig: .* is relative to/);
  });

  it('by the connection of the system agent without one', async () => {
    const without = 'warning noEffect hostNetwork.nodes: true, without an API server';
    expect(await told(true)).toEqual([expect.stringContaining(without)]);
    const local = { systemagent: { localEnabled: true } };
    expect(await told(true, local)).toEqual([expect.stringContaining(without)]);
    expect(await told(true, { systemagent: { remoteEnabled: true } })).toEqual([]);
    expect(await told(false)).toEqual([]);
  });
});

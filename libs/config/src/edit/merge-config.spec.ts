import { ConfigError, mergeConfig, parseConfig } from '../index.js';

const NODE = `# the node of the database
debug: true

whiteList: # written by a Go release
  processPaths:
    - 'C:\\tools\\a.exe' # backup
    - { path: 'C:\\tools\\helper.exe', sha256: ${'a'.repeat(64)}, mayBreakAway: true }
  proxyPorts: [9796]
# Rancher's
systemagent:
  remoteEnabled: true
  workDirectory: 'C:\\work'
csi-proxy: { url: 'https://example.com/%s', version: v1.1.3, kubeletPath: 'C:/k/kubelet.exe' }
`;
const HELPER = { path: 'c:/TOOLS/helper.exe', sha256: 'b'.repeat(64), mayBreakAway: true };
const windows = { platform: 'win32' } as const;
const merge = (source: string, changes: object) =>
  mergeConfig(source, JSON.stringify(changes), windows);

describe('a config that is merged with the keys of another', () => {
  it('keeps the encoding and the byte order mark of the file', () => {
    const source = Buffer.from('\uFEFFdebug: true # as PowerShell wrote it\r\n', 'utf16le');
    const { bytes } = mergeConfig(source, JSON.stringify({ debug: false }), windows);
    expect(bytes.toString('utf16le')).toBe('\uFEFFdebug: false # as PowerShell wrote it\r\n');
  });

  it('gets those keys, keeps all others with their comments, and says which', () => {
    const { text, kept } = merge(NODE, { debug: false, tunnel: { maxSessions: 7 } });
    expect(kept).toEqual(['white_list', 'systemagent', 'csi-proxy']);
    expect(text).toBe(`${NODE.replace('debug: true', 'debug: false')}tunnel:\n  maxSessions: 7\n`);
  });

  it('has a section replaced as a whole', () => {
    const { text } = merge(NODE, { systemagent: { localEnabled: true } });
    const { systemAgent } = parseConfig(text, windows).config;
    expect(systemAgent).toMatchObject({ localEnabled: true, remoteEnabled: false });
    expect(systemAgent?.workDirectory).toBeUndefined();
    expect(text).toContain("# Rancher's\n");
  });

  it('keeps its whitelist, in whatever spelling, and gets entries: one of a known path takes its place', () => {
    const white_list = {
      processPaths: [HELPER, 'C:\\new.exe'],
      proxyPorts: [9796, 80],
      proxyUdpPorts: [53],
    };
    const { text } = merge(NODE, { white_list });
    const { whiteList } = parseConfig(text, windows).config;
    expect(whiteList.processPaths.map(({ path }) => path)).toEqual([
      'C:\\tools\\a.exe',
      HELPER.path,
      'C:\\new.exe',
    ]);
    expect(whiteList.processPaths[1]?.sha256).toEqual([HELPER.sha256]);
    expect(whiteList.proxyPorts).toEqual([9796, 80]);
    expect(whiteList.proxyUdpPorts).toEqual([53]);
    expect(text).toContain('# backup');
    expect(text).not.toContain('white_list');
  });

  it('is the same once more', () => {
    const changes = { white_list: { processPaths: [HELPER] }, tunnel: { maxSessions: 7 } };
    const { text } = merge(NODE, changes);
    expect(merge(text, changes).text).toBe(text);
  });

  it('replaces each spelling of a key, and one that stands twice', () => {
    const { text } = merge('process_environment: { A: b }\nDebug: true\ndebug: true\n', {
      debug: false,
      processEnvironment: { 'NAME: x': 'no', yes: '1' },
    });
    expect(parseConfig(text, windows)).toMatchObject({
      config: { debug: false, processEnvironment: { 'NAME: x': 'no', yes: '1' } },
    });
    expect(text.match(/debug/gi)).toHaveLength(1);
    expect(text.match(/environment/gi)).toHaveLength(1);
  });

  it.each([
    '',
    '{}',
    '{"debug": true, "systemagent": {"localEnabled": true}}',
    '\uFEFF# empty\r\n',
  ])('may be %j', (source) => {
    const { text } = merge(source, { debug: false, white_list: { processPaths: [HELPER] } });
    const { config } = parseConfig(text, windows);
    expect([config.debug, config.whiteList.processPaths.length]).toEqual([false, 1]);
    expect(config.systemAgent !== undefined).toBe(source.includes('systemagent'));
  });

  it('is compared by the paths of its system: elsewhere than on Windows two spellings are two programs', () => {
    const source = 'white_list: { processPaths: [/opt/Tool] }';
    const changes = 'white_list: { processPaths: [/opt/tool] }';
    const { text } = mergeConfig(source, changes, { platform: 'linux' });
    expect(parseConfig(text).config.whiteList.processPaths).toHaveLength(2);
  });

  it.each([
    ['an unknown key in the changes', NODE, 'debgu: true'],
    ['changes that are not valid', NODE, 'debug: maybe'],
    ['a file that is not valid', 'debug: maybe', 'debug: true'],
    ['a result that is not valid', 'proxy: one', 'listen: one'],
    [
      'a value on which another key depends',
      'listen: &a one\nproxy: two\npipeAccess: *a\n',
      'listen: x',
    ],
    ['a file that is no map', '- debug', 'debug: true'],
  ])('refuses %s, and names it', (_what, source, changes) => {
    expect(() => mergeConfig(source, changes, windows)).toThrow(ConfigError);
  });
});

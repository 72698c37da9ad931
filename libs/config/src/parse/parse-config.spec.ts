import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeText } from '@wins/trusted-files';
import { ConfigError, type ConfigProblem, parseConfig, type ParseOptions } from '../index.js';

const DIGEST = 'ab'.repeat(32);

function example(name: string): Buffer {
  return readFileSync(join(__dirname, '../../examples', name));
}

function read(text: string | Uint8Array, options?: ParseOptions) {
  return parseConfig(text, { platform: 'win32', ...options });
}

function problemsOf(text: string | Uint8Array, options?: ParseOptions): readonly ConfigProblem[] {
  try {
    read(text, options);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  throw new Error('the text was accepted');
}

function errorsOf(text: string | Uint8Array, options?: ParseOptions): string[] {
  return problemsOf(text, options)
    .filter(({ severity }) => severity === 'error')
    .map(({ code, line, column, keyPath }) => `${line ?? '-'}:${column ?? '-'} ${code} ${keyPath}`);
}

function warningsOf(text: string): string[] {
  return read(text)
    .warnings.filter(({ code }) => code !== 'noWhiteList')
    .map(({ code, line, keyPath }) => `${line ?? '-'} ${code} ${keyPath}`);
}

const isPort = (text: string) => [text, 9796] as const;
const allowed = (path: string) => ({ path, sha256: [], envs: [], directories: [] });

describe('the published files', () => {
  it('reads the JSON of a bootstrap script, with byte order mark, CRLF and a quoted port', () => {
    const bytes = Buffer.from(
      example('rke1-bootstrap.config').toString().replace(/\r?\n/g, '\r\n'),
    );
    expect(bytes[0]).toBe(0xef);
    const { config, warnings } = read(bytes);
    expect(config.whiteList).toEqual({
      processPaths: [
        allowed('C:/etc/rancher/wins/powershell.exe'),
        allowed('C:/etc/kubernetes/bin/kubelet.exe'),
      ],
      proxyPorts: [9796, 9797],
      proxyUdpPorts: [],
    });
    expect(warnings).toMatchObject([{ code: 'legacySpelling', line: 2, column: 5 }]);
  });

  it('reads the file of an installer without a warning', () => {
    const { config, warnings } = read(example('installer.config'));
    expect(warnings).toEqual([]);
    expect(config).toMatchObject({
      whiteList: { proxyPorts: [9796] },
      agentStrictTlsMode: true,
      systemAgent: { remoteEnabled: true, localEnabled: false, preserveWorkDirectory: false },
      csiProxy: { version: 'v1.1.3' },
      tlsConfig: { certFilePath: 'C:/etc/rancher/agent/ranchercert' },
    });
  });

  it('reads the file of an upgrade chart', () => {
    const { config } = read(example('upgrader-chart.config'));
    expect(config.whiteList.processPaths).toHaveLength(2);
    expect(config.upgrade.mode).toBe('watching');
  });

  it('reads pinned paths, with digests in lower case', () => {
    const [first, second] = read(example('pinned.config')).config.whiteList.processPaths;
    expect(first?.sha256).toEqual([
      '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    ]);
    expect(first?.envs).toEqual(['DOTNET_STARTUP_HOOKS']);
    expect(second).toEqual(allowed('C:/etc/rancher/wins/windows-exporter.exe'));
  });
});

describe('defaults', () => {
  it.each([
    '',
    '# nothing\n',
    '---\n',
    '{}',
    'null',
    '~',
    '\uFEFF',
    'white_list:\nsystemagent: ~\ndebug:\n',
  ])('apply to the text %j', (text) => {
    expect(read(text).config).toEqual(read('debug: false').config);
  });

  it('let nothing run, and the warning names the key to set', () => {
    expect(read('').warnings).toMatchObject([
      { code: 'noWhiteList', keyPath: 'white_list.processPaths', severity: 'warning' },
    ]);
    expect(read('white_list:\n  processPaths: []\n').warnings).toMatchObject([
      { code: 'noWhiteList', line: 2 },
    ]);
    expect(read('white_list: {processPaths: [a]}').warnings).toEqual([]);
  });

  it('keep watching off when only a path is given, with a warning', () => {
    const { config, warnings } = read(
      'white_list: {processPaths: [a]}\nupgrade:\n  watchingPath: c:/x.exe\n',
    );
    expect(config.upgrade).toEqual({ mode: 'none', watchingPath: 'c:/x.exe' });
    expect(warnings).toMatchObject([
      { code: 'noEffect', line: 3, keyPath: 'upgrade.watchingPath' },
    ]);
    expect(read('upgrade: {mode: ""}').config.upgrade.mode).toBe('none');
  });

  it('are not shared between two configurations', () => {
    const values = () => read('').origins.map(({ value }) => value);
    const [first, second] = [values(), values()];
    expect(first).toEqual(second);
    for (const [index, value] of first.entries())
      if (typeof value === 'object') expect(value).not.toBe(second[index]);
    expect(first.some((value) => typeof value === 'object')).toBe(true);
  });

  it('follow the platform', () => {
    expect(parseConfig('', { platform: 'linux' }).config.upgrade.watchingPath).toBe(
      '/etc/rancher/wins/wins',
    );
  });
});

describe('spellings', () => {
  it.each([
    'white_list',
    'whiteList',
    'whitelist',
    'WhiteList',
    'White_List',
    'WHITE-LIST',
    'white-list',
  ])('finds the white list under %s', (key) => {
    const text = `${key}:\n  processPaths: [c:/a.exe]\n`;
    expect(read(text).config.whiteList.processPaths).toEqual([allowed('c:/a.exe')]);
    expect(warningsOf(text)).toEqual(key === 'white_list' ? [] : ['1 legacySpelling white_list']);
  });

  it.each([
    ['systemAgent: {local_enabled: y}', 'systemagent'],
    ['system-agent: {LocalEnabled: y}', 'systemagent'],
    ['csi_proxy: {URL: a, version: b, kubelet_path: c}', 'csi-proxy'],
    ['csiProxy: {url: a, version: b, kubeletpath: c}', 'csi-proxy'],
    ['tlsConfig: {insecure: y}', 'tls-config'],
    ['tls_config: {insecure: y}', 'tls-config'],
    ['agent_strict_tls_mode: y', 'agentStrictTLSMode'],
    ['upgrade: {watching-path: x, mode: watching}', 'upgrade'],
    ['Debug: y', 'debug'],
    ['white_list: {process_paths: [a], PROXYPORTS: [1]}', 'white_list'],
  ])('accepts %s, with a warning', (text, section) => {
    const { warnings, origins } = read(text);
    expect(warnings.some(({ code }) => code === 'unknownKey')).toBe(false);
    expect(warnings.some(({ code }) => code === 'legacySpelling')).toBe(true);
    expect(origins.some(({ key, origin }) => key.startsWith(section) && origin !== 'default')).toBe(
      true,
    );
  });

  it.each([
    'white_li\u017ft',
    'wh\u0130telist',
    'white\u212Alist',
    'white__list',
    '_white_list',
    'sa',
    'white list',
  ])('does not take %j for a known key', (key) => {
    expect(warningsOf(`"${key}": {processPaths: [a]}`)).toEqual([
      expect.stringMatching(/^1 unknownKey/),
    ]);
    expect(read(`"${key}": {processPaths: [a]}`).config.whiteList.processPaths).toEqual([]);
  });

  it('does not fold the Kelvin sign into a k', () => {
    const text = 'systemagent: {wor\u212ADirectory: x}';
    expect(warningsOf(text)).toEqual([expect.stringContaining('unknownKey')]);
    expect(read('systemagent: {workdirectory: x}').config.systemAgent?.workDirectory).toBe('x');
  });

  it.each([
    // The installer of a later release has appended a second section.
    [
      'whiteList: {processPaths: [a, b]}\nwhite_list: {processPaths: [a]}',
      ['a'],
      '1:1 2, column 1',
    ],
    [
      'white_list: {processPaths: [a]}\nwhiteList: {processPaths: [a, b]}',
      ['a'],
      '2:1 1, column 1',
    ],
    ['whiteList: {processPaths: [a]}\nwhite_list: {}', [], '1:1 2, column 1'],
    ['whiteList: {processPaths: [a]}\nwhite_list:', [], '1:1 2, column 1'],
    // The Go releases sort the keys, and use the last.
    ['White_List: {processPaths: [a]}\nwhite_list: {processPaths: [b]}', ['b'], '1:1 2, column 1'],
    ['white_list: {processPaths: [b]}\nWHITE_LIST: {processPaths: [a]}', ['b'], '2:1 1, column 1'],
    ['White_List: {processPaths: [a]}\nwhite_list:', ['a'], '2:1 1, column 1'],
    ['white_list:\n  processPaths: [a]\n  processpaths: [b]', ['b'], '2:3 3, column 3'],
    ['white_list:\n  process_paths: [b]\n  ProcessPaths: [a]', ['a'], '2:3 3, column 3'],
  ])(
    'take of two spellings of one key what the Go releases have in force: %s',
    (text, paths, locations) => {
      const { config, warnings } = read(text);
      expect(config.whiteList.processPaths.map(({ path }) => path)).toEqual(paths);
      const [twin, ...others] = warnings.filter(({ code }) => code === 'twoSpellings');
      expect(others).toEqual([]);
      const { line, column, found } = twin ?? {};
      expect(`${line}:${column} ${/in line (.*?), which/.exec(found ?? '')?.[1]}`).toBe(locations);
      expect(found).toMatch(/another value, which is used$/);
      expect(() => read(text, { strict: true })).not.toThrow();
    },
  );

  it.each([
    'whiteList: {processPaths: [c:/a.exe], proxyPorts: [1]}\nwhite_list:\n  proxyPorts:\n  - 1\n  processPaths: ["c:/a.exe"]\n',
    'whitelist: &w {processPaths: [c:/a.exe], proxyPorts: [1]}\nwhiteList: *w\n',
  ])('warn of two spellings with the same value, with both locations: %s', (text) => {
    const { config, warnings } = read(text);
    const processPaths = [allowed('c:/a.exe')];
    expect(config.whiteList).toEqual({ processPaths, proxyPorts: [1], proxyUdpPorts: [] });
    expect(warnings.filter(({ code }) => code === 'twoSpellings')).toMatchObject([
      {
        severity: 'warning',
        keyPath: 'white_list',
        found: expect.stringMatching(/the same value$/) as unknown,
      },
    ]);
  });

  it('never make Rancher be trusted more by a second spelling', () => {
    const strict = (text: string) => read(text).config.agentStrictTlsMode;
    expect(strict('agentStrictTLSMode: true\nagent_strict_tls_mode: false')).toBe(true);
    expect(strict('agentStrictTLSMode: true\nagentstricttlsmode:')).toBe(true);
  });

  it.each([
    [
      'whiteList: {processPaths: [a]}\nwhitelist: {processPaths: [b]}',
      '1:1 twoSpellings white_list',
    ],
    [
      `white_list:\n  processPaths:\n  - path: a\n    sha256: ${DIGEST}\n    SHA256: ${'cd'.repeat(32)}`,
      '5:5 twoSpellings white_list.processPaths[0].sha256',
    ],
    [
      'white_list:\n  processPaths:\n  - path: a\n    mayBreakAway: false\n    MayBreakAway: true',
      '5:5 twoSpellings white_list.processPaths[0].mayBreakAway',
    ],
    ['system-agent: {localEnabled: y}\nsystem_agent: {}', '1:1 twoSpellings systemagent'],
  ])('with two values are refused if no release defines which one counts: %s', (text, error) => {
    expect(errorsOf(text)).toEqual([error]);
  });

  it('end when the values of twins blow up, or have no bottom', () => {
    const lists = Array.from({ length: 20 }, (_, index) =>
      index === 0 ? '&a0 [x, x]' : `&a${index} [*a${index - 1}, *a${index - 1}]`,
    ).join(', ');
    const twins = 'white_list: {custom: *a19}\nwhiteList: {custom: *a19}\n';
    expect(errorsOf(`x: [${lists}]\n${twins}`)).toEqual([expect.stringContaining('tooManyValues')]);
    expect(errorsOf('white_list: &w {custom: *w}\nwhiteList: *w\n')).toEqual([
      expect.stringContaining('tooDeep'),
    ]);
  });

  it('takes the last of a repeated key, with a warning', () => {
    const text =
      'debug: true\nwhite_list: {processPaths: [a]}\ndebug: false\nwhite_list: {processPaths: [b]}\n';
    expect(read(text).config).toMatchObject({
      debug: false,
      whiteList: { processPaths: [allowed('b')] },
    });
    expect(warningsOf(text)).toEqual(['1 duplicateKey debug', '2 duplicateKey white_list']);
    expect(read('debug: true\nDEBUG: false').config.debug).toBe(true);
    expect(
      read('white_list: {processPaths: [a]}\nwhite_list:').config.whiteList.processPaths,
    ).toEqual([]);
  });
});

describe('values', () => {
  it.each(['true', 'True', 'TRUE', 'yes', 'Yes', 'on', 'ON', 'y', 'Y'])(
    'takes %s for true',
    (text) => {
      expect(read(`debug: ${text}`).config.debug).toBe(true);
    },
  );

  it.each(['false', 'no', 'NO', 'off', 'Off', 'n', 'N'])('takes %s for false', (text) => {
    const { config, origins } = read(`debug: ${text}`);
    expect(config.debug).toBe(false);
    expect(origins[0]).toEqual({ key: 'debug', value: false, origin: { line: 1, column: 8 } });
  });

  it.each(['1', '0', '"true"', "'yes'", 'maybe', '[true]', '{}', '!!str yes'])(
    'does not take %s for a boolean',
    (text) => {
      expect(errorsOf(`debug: ${text}`)).toEqual([
        expect.stringMatching(/^1:\d+ wrongType debug$/),
      ]);
    },
  );

  it.each([
    ['0123', '0123'],
    ['1.10', '1.10'],
    ['on', 'on'],
    ['2001-01-01', '2001-01-01'],
    ['"a b"', 'a b'],
    ['1_000', '1_000'],
  ])('keeps the text of %s where a text is wanted', (written, text) => {
    expect(read(`listen: ${written}`).config.listen).toBe(text);
  });

  it.each([
    ['9796', 9796],
    ['9796.0', 9796],
    ['"9796"', 9796],
    ['9.796e3', 9796],
    ['1', 1],
    ['65535', 65535],
    // Numbers of YAML 1.1, as the Go releases read them.
    ...['+9796', '0x2644', '0X2644', '+0x2644', '0x26_44', '9_796', '9796_', '+9_796'].map(isPort),
    ...['023104', '+023104', '0_23104', '0o23104', '0b10011001000100', '9796.'].map(isPort),
    ...['09796', '9_796.0', '9796e0', '9.796e+3', '+9796.0'].map(isPort),
  ] as const)('takes %s for a port', (written, port) => {
    expect(read(`white_list: {proxyPorts: [${written}]}`).config.whiteList.proxyPorts).toEqual([
      port,
    ]);
  });

  it.each([
    '0',
    '65536',
    '-1',
    '-0x50',
    '80.5',
    '80-81',
    '1:20',
    '_80',
    '0x',
    '0xg',
    '0b2',
    '0x1p4',
    '"0x50"',
    '"8_0"',
    '""',
    '" 80"',
    '.inf',
    '1e400',
    'x',
    '~',
    '[1]',
    '"９"',
  ])('does not take %s for a port', (written) => {
    expect(errorsOf(`white_list:\n  proxyPorts: [${written}]`)).toEqual([
      expect.stringMatching(/^2:16 wrong(Type|Value) white_list\.proxyPorts\[0\]$/),
    ]);
  });

  it('takes a lone digest and a lone variable for a list of one', () => {
    const text = `white_list: {processPaths: [{path: a, sha256: ${DIGEST}, envs: A_B}]}`;
    expect(read(text).config.whiteList.processPaths).toEqual([
      { path: 'a', sha256: [DIGEST], envs: ['A_B'], directories: [] },
    ]);
  });

  it('takes a digest of digits alone for text', () => {
    const digest = '1'.repeat(64);
    const { config } = read(`white_list: {processPaths: [{path: a, sha256: [${digest}]}]}`);
    expect(config.whiteList.processPaths[0]?.sha256).toEqual([digest]);
  });

  it.each([
    ['""', 'white_list.processPaths[0].path'],
    ['"  "', 'white_list.processPaths[0].path'],
    ['"a\\0b"', 'white_list.processPaths[0].path'],
    ['"a\\nb"', 'white_list.processPaths[0].path'],
    ['"a\\x9bb"', 'white_list.processPaths[0].path'],
    ['"a\\u2028b"', 'white_list.processPaths[0].path'],
    ['"a\\ud800b"', 'white_list.processPaths[0].path'],
    ['[a]', 'white_list.processPaths[0]'],
    ['~', 'white_list.processPaths[0]'],
    ['{}', 'white_list.processPaths[0].path'],
    ['{path: ~}', 'white_list.processPaths[0].path'],
    ['{path: [a]}', 'white_list.processPaths[0].path'],
    [`{path: a, sha256: ${'a'.repeat(63)}}`, 'white_list.processPaths[0].sha256[0]'],
    [`{path: a, sha256: [${DIGEST}, ${'g'.repeat(64)}]}`, 'white_list.processPaths[0].sha256[1]'],
    ['{path: a, envs: ["A=b"]}', 'white_list.processPaths[0].envs[0]'],
    ['{path: a, envs: [""]}', 'white_list.processPaths[0].envs[0]'],
  ])('refuses the path entry %s', (entry, keyPath) => {
    const errors = problemsOf(`white_list:\n  processPaths:\n  - ${entry}\n`);
    expect(errors.map((problem) => problem.keyPath)).toEqual([keyPath]);
    expect(errors[0]?.line).toBe(3);
  });

  it.each([
    'signedBy:',
    'signedBy: ~',
    'signedBy: []',
    'signedBy: abc',
    `signedBy: [${DIGEST}, x]`,
  ])('refuse upgrade: %s, which would let any program be taken', (key) => {
    expect(() => read(`upgrade:\n  ${key}`)).toThrow(/signedBy/);
    const { upgrade } = read(`upgrade: {signedBy: ${DIGEST.toUpperCase()}}`).config;
    expect(upgrade.signedBy).toEqual([{ certificate: DIGEST }]);
  });

  it.each(['sha256:', 'sha256: ~', 'sha256: []', 'sha265: x', 'sha: x'])(
    'refuses an entry whose pin is void or misspelt (%s), for it would run unpinned',
    (pin) => {
      const text = `white_list:\n  processPaths:\n  - path: a\n    ${pin}\n`;
      expect(errorsOf(text)).toEqual([expect.stringMatching(/^4:\d+ /)]);
    },
  );

  it.each([
    ['listen: ""', 'listen'],
    ['listen: " "', 'listen'],
    ['proxy: ""', 'proxy'],
    ['listen: [a]', 'listen'],
    ['white_list: {processPaths: c:/a.exe}', 'white_list.processPaths'],
    ['white_list: {processPaths: {a: b}}', 'white_list.processPaths'],
    ['white_list: [a]', 'white_list'],
    ['white_list: a', 'white_list'],
    ['upgrade: {mode: sometimes}', 'upgrade.mode'],
    ['csi-proxy: {url: a, kubeletPath: b}', 'csi-proxy.version'],
    ['csi-proxy: {url: a, version: b, kubeletPath: c, sha256: abc}', 'csi-proxy.sha256'],
    ['csi-proxy: {url: a, version: b, kubeletPath: c, args: [" "]}', 'csi-proxy.args[0]'],
    ['tls-config: {insecure: perhaps}', 'tls-config.insecure'],
    ['agentStrictTLSMode: 2', 'agentStrictTLSMode'],
    ['tunnel: {maxSessions: 0}', 'tunnel.maxSessions'],
    ['tunnel: {maxStreams: 16385}', 'tunnel.maxStreams'],
    ['tunnel: {handshakeTimeoutMs: soon}', 'tunnel.handshakeTimeoutMs'],
    ['routes: {allow: [10.42.0.0/16, 169.0.0.0/8]}', 'routes.allow[1]'],
    ['routes: {allow: all}', 'routes.allow'],
    ['reflection: perhaps', 'reflection'],
    ['audit: {maxFileBytes: 1000}', 'audit.maxFileBytes'],
    ['audit: {maxFiles: 1}', 'audit.maxFiles'],
    ['audit: {directory: ""}', 'audit.directory'],
    ['proxy: rancher_wins', 'proxy'],
    ['{listen: one, proxy: "npipe:////./pipe/One"}', 'proxy'],
    ['listen: \\\\.\\pipe\\rancher_wins_proxy', 'proxy'],
    ['- a', ''],
    ['just text', ''],
  ])('refuses %s', (text, keyPath) => {
    const problems = problemsOf(text).filter(({ severity }) => severity === 'error');
    expect(problems).toMatchObject([{ keyPath, line: 1 }]);
  });

  it('drops a repeated port and warns about repeated entries', () => {
    const text = 'white_list:\n  processPaths:\n  - a\n  - b\n  - a\n  proxyPorts: [1, 2, 1]\n';
    expect(read(text).config.whiteList.proxyPorts).toEqual([1, 2]);
    expect(warningsOf(text)).toEqual([
      '5 duplicateEntry white_list.processPaths[2]',
      '6 duplicateEntry white_list.proxyPorts[2]',
    ]);
    const udp = 'white_list: {processPaths: [a], proxyPorts: [1], proxyUdpPorts: [1, 1]}';
    expect(read(udp).config.whiteList.proxyUdpPorts).toEqual([1]);
    expect(warningsOf(udp)).toEqual(['1 duplicateEntry white_list.proxyUdpPorts[1]']);
  });

  it('leaves out optional paths that are empty', () => {
    const { config } = read(
      'systemagent: {workDirectory: "", localEnabled: y}\ntls-config: {certFilePath: ""}',
    );
    expect(config.systemAgent).toEqual({
      localEnabled: true,
      remoteEnabled: false,
      preserveWorkDirectory: false,
    });
    expect(config.tlsConfig).toEqual({});
  });
});

describe('problems', () => {
  it('are told all at once, in the order of the file, with location, finding and expectation', () => {
    const text = [
      'debug: maybe', // 1
      'white_list:',
      '  proxyPorts: [0, 80, x]', // 3
      '  processPaths:',
      "    - ''", // 5
      'listen: [a]',
      'csi-proxy: {}',
      'porxy: x', // 8
    ].join('\r\n');
    expect(errorsOf(text)).toEqual([
      '1:8 wrongType debug',
      '3:16 wrongValue white_list.proxyPorts[0]',
      '3:23 wrongType white_list.proxyPorts[2]',
      '5:7 wrongValue white_list.processPaths[0].path',
      '6:9 wrongType listen',
      '7:12 missing csi-proxy.url',
      '7:12 missing csi-proxy.version',
      '7:12 missing csi-proxy.kubeletPath',
    ]);
    const problems = problemsOf(text, { fileName: 'c:/etc/config' });
    expect(problems.at(-1)).toMatchObject({ severity: 'warning', code: 'unknownKey', line: 8 });
    expect(problems[0]?.message).toBe(
      'c:/etc/config:1:8: debug: found "maybe", expected true or false',
    );
    expect(problems[1]).toMatchObject({ found: '"0"', expected: 'a port number from 1 to 65535' });
  });

  it('make a message of the errors alone', () => {
    const attempt = () => read('Debug: x\nlisten: ""\n');
    expect(attempt).toThrow(
      'config:1:8: debug: found "x", expected true or false\n' +
        'config:2:9: listen: found the text "", expected a pipe name, not blank and without control characters',
    );
  });

  it.each([
    ['porxy', 'proxy'],
    ['whitelists', 'white_list'],
    ['lisen', 'listen'],
    ['processPaths', 'white_list.processPaths'],
    ['kubelet_path', 'csi-proxy.kubeletPath'],
    ['banana', undefined],
    ['x'.repeat(100_000), undefined],
  ])('name the known key nearest to %.20s', (key, nearest) => {
    const problem = read(`"${key.slice(0, 1000)}": 1`).warnings.find(
      ({ code }) => code === 'unknownKey',
    );
    expect(problem?.nearestKey).toBe(nearest);
  });

  it('include the section of the nearest key', () => {
    expect(read('white_list: {proxyPort: [1]}').warnings[0]).toMatchObject({
      keyPath: 'white_list.proxyPort',
      nearestKey: 'white_list.proxyPorts',
    });
  });

  it('make an unknown key an error in strict mode only', () => {
    const text =
      'white_list: {processPaths: [a]}\nwhat: 1\nmetrics: {listen: "127.0.0.1:1", how: 2}';
    expect(read(text).warnings).toHaveLength(2);
    expect(errorsOf(text, { strict: true })).toEqual([
      '2:1 unknownKey what',
      '3:34 unknownKey metrics.how',
    ]);
    expect(() => read('Debug: y', { strict: true })).not.toThrow();
  });

  it('show foreign text shortened and without control or formatting characters', () => {
    const problems = problemsOf(`"\\e[31m\\u202E\\nkey": 1\nlisten: "\\e[2J${'x'.repeat(500)}"`);
    expect(problems).toHaveLength(2);
    for (const { message, keyPath, found } of problems) {
      expect(message + keyPath + found).not.toMatch(/[\p{C}\p{Zl}]/u);
      // The limit leaves room for a list of all top-level keys.
      expect(message.length).toBeLessThan(350);
    }
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'take %s for an unknown key that does no harm',
    (key) => {
      const { config, warnings } = read(
        `${key}: {debug: true, polluted: 1}\nwhite_list: {${key}: [1], processPaths: [a]}`,
      );
      expect(warnings.map(({ code }) => code)).toEqual(['unknownKey', 'unknownKey']);
      expect(config.debug).toBe(false);
      expect('polluted' in config).toBe(false);
      expect('polluted' in {}).toBe(false);
    },
  );
});

describe('structure', () => {
  it.each([
    ['a: "x', '1:6 syntax '],
    ['a: 1\n b: 2\n', '1:4 syntax '],
    ['debug: true\n\tlisten: x\n', '2:1 syntax '],
    ['a: 1\n---\nb: 2\n', '2:1 multipleDocuments '],
    ['a: 1\n---\n---\nb: 2\n', '3:1 multipleDocuments '],
    ['---\n---\nb: 2\n', '2:1 multipleDocuments '],
    ['a: 1\nb: x\0y\n', '2:5 controlCharacter '],
    ['a: 1\rb: x\0y\r', '2:5 controlCharacter '],
    ['a: 1\r\r\nb: x\0y\r\r\n', '2:5 controlCharacter '],
    ['a: 1\u0085b: x\0y\u0085', '2:5 controlCharacter '],
    ['a: 1\r\r\n\r\r\nb: [\r\r\n', '4:1 syntax '],
    ['debug: !!bool yes', '1:8 unsupported '],
    ['debug: *nowhere', '1:8 unsupported debug'],
    ['upgrade:\n  <<: {mode: watching}\n', '2:3 unsupported upgrade'],
    ['? [a]\n: 1\n', '1:3 unsupported '],
  ])('of %j is refused', (text, error) => {
    expect(errorsOf(text)[0]).toBe(error);
  });

  it.each(['a: 1\n...\n---\n', 'debug: on\n---\n', 'debug: on\n--- # end\n...\n---\n# more\n'])(
    'of %j is accepted: empty documents follow the first',
    (text) => {
      expect(() => read(text)).not.toThrow();
      expect(read(text).config.debug).toBe(text.startsWith('debug'));
    },
  );

  it.each(['\r\n', '\r', '\r\r\n', '\u0085'])('has the line ends %j', (end) => {
    const lines = [
      '# no key',
      'debug: on',
      'white_list:',
      '  processPaths:',
      '    - c:/a',
      'x: 1',
      '',
    ];
    expect(read(lines.join(end))).toEqual(read(lines.join('\n')));
  });

  it('tells several faults of the syntax at once', () => {
    expect(errorsOf('a: b: c\nd: e: f\n')).toEqual(['1:4 syntax ', '2:4 syntax ']);
  });

  it('accepts JSON that is indented with tabs', () => {
    const value = {
      white_list: {
        processPaths: ['c:\\a\\b.exe', { path: 'é😀/x', envs: ['A'] }],
        proxyPorts: [1],
      },
    };
    const { config } = read(JSON.stringify(value, null, '\t'));
    expect(config.whiteList.processPaths.map(({ path }) => path)).toEqual([
      'c:\\a\\b.exe',
      'é😀/x',
    ]);
  });

  it('follows an alias to the anchor before it', () => {
    const text = 'x: &p [c:/a]\ny: &p [c:/b]\nwhite_list: {processPaths: *p}\nz: &p [c:/c]\n';
    expect(read(text).config.whiteList.processPaths).toEqual([allowed('c:/b')]);
  });

  it('ends at an alias to itself', () => {
    expect(
      errorsOf('white_list: &w {processPaths: [&e {path: c:/a, sha256: [*e]}], proxyPorts: *w}'),
    ).toEqual([
      '1:57 wrongType white_list.processPaths[0].sha256[0]',
      '1:76 wrongType white_list.proxyPorts',
    ]);
  });

  it('names the line and column of bytes that are not UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from('a: é\nb: é'),
      Buffer.from([0xff]),
      Buffer.from('\n'),
    ]);
    expect(problemsOf(bytes)).toMatchObject([
      { code: 'notUtf8', line: 2, column: 5, found: 'the byte 0xff' },
    ]);
    expect(() => read(Buffer.from('x: \uFFFD'))).not.toThrow();
  });
});

describe('the encoding of a file', () => {
  const LINES = '# é😀\ndebug: on\nwhite_list: {processPaths: [c:/é.exe], proxyPorts: [0]}\n';

  it.each(['utf-8', 'utf-16le', 'utf-16be'] as const)(
    'is read with a byte order mark, locations and all: %s',
    (encoding) => {
      const of = (text: string) => encodeText(`\uFEFF${text}`, encoding);
      expect(read(of(LINES.replace('[0]', '[1]'))).config.whiteList).toMatchObject({
        processPaths: [{ path: 'c:/é.exe' }],
        proxyPorts: [1],
      });
      expect(errorsOf(of(LINES))).toEqual(['3:53 wrongValue white_list.proxyPorts[0]']);
    },
  );

  it.each([
    ['UTF-32LE', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), 'UTF-32', 1, 1],
    ['UTF-32BE', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x61]), 'UTF-32', 1, 1],
    ['UTF-16 without its mark', Buffer.from(LINES.slice(5), 'utf16le'), 'NUL bytes', 1, 1],
    [
      'half a unit',
      Buffer.concat([encodeText('\uFEFFa: b\n', 'utf-16le'), Buffer.of(0)]),
      'half a unit',
      2,
      1,
    ],
    [
      'half a character',
      encodeText('\uFEFFa: b\r\rc: \ud800d', 'utf-16be'),
      'half a character',
      3,
      4,
    ],
  ])('is refused by its name and location: %s', (_name, bytes, found, line, column) => {
    expect(problemsOf(bytes)).toMatchObject([
      {
        code: 'notUtf8',
        line,
        column,
        found: expect.stringContaining(found) as unknown,
        expected: 'UTF-8, or UTF-16 with a byte order mark',
      },
    ]);
  });

  it('has a byte order mark within, so the key after it counts for nothing, as in the Go releases', () => {
    const { config, warnings } = read('debug: on\n\uFEFFlisten: x\n', { strict: true });
    expect(config).toMatchObject({ debug: true, listen: 'rancher_wins' });
    expect(warnings).toContainEqual(
      expect.objectContaining({ code: 'noEffect', keyPath: 'listen', line: 2, column: 1 }),
    );
    const entry = `white_list: {processPaths: [{path: a, \uFEFFsha256: ${DIGEST}}]}`;
    expect(errorsOf(entry)).toEqual([expect.stringMatching(/unknownKey/)]);
  });
});

describe('limits', () => {
  it('refuses more than 1 MiB, in bytes', () => {
    const fits = `#${'x'.repeat(1024 * 1024 - 1)}`;
    expect(() => read(fits)).not.toThrow();
    expect(problemsOf(`${fits}x`)).toMatchObject([{ code: 'tooLarge' }]);
    expect(problemsOf(`#${'é'.repeat(524_288)}`)).toMatchObject([{ code: 'tooLarge' }]);
    expect(problemsOf(Buffer.from(`${fits}x`))).toMatchObject([{ code: 'tooLarge' }]);
  });

  it.each(['[', '{', '{a: [', '- ', '? ', '[\n', '"a": '])(
    'refuses %j repeated without end',
    (text) => {
      expect(errorsOf(text.repeat(100_000))).toEqual([expect.stringMatching(/tooDeep|syntax/)]);
    },
  );

  it('allows 32 levels, in keys that it does not know', () => {
    const nested = (levels: number) => `x: ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}`;
    expect(() => read(nested(32))).not.toThrow();
    expect(errorsOf(nested(33))).toEqual([expect.stringContaining('tooDeep')]);
  });

  it('refuses a small file that aliases blow up', () => {
    const entry = `&e {path: a, sha256: &s [${`${DIGEST},`.repeat(1000)}]}`;
    const text = `white_list: {processPaths: [${entry}${',*e'.repeat(1000)}]}`;
    expect(errorsOf(text)).toEqual([expect.stringContaining('tooManyValues')]);
  });

  it.each([
    ['an anchor that holds an alias to itself', 'processEnvironment: [&a [*a]]'],
    [
      'aliases that lead deeper and deeper',
      `args: [${Array.from({ length: 2000 }, (_, index) => `&a${index} [*a${index - 1}]`)
        .join(',')
        .replace('*a-1', '')}]`,
    ],
  ])('refuses %s', (_name, text) => {
    const entry = `white_list: {processPaths: [{path: a, ${text}}]}`;
    const texts = text.startsWith('args')
      ? [entry]
      : [text, entry.replace('processEnvironment', 'args')];
    for (const each of texts) expect(errorsOf(each)).toEqual([expect.stringContaining('tooDeep')]);
  });

  it('gives a file up at 1,000 problems', () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `key${index}: 1\n`).join('');
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)?.code).toBe('tooManyProblems');
    expect(problemsOf('}'.repeat(20_000))).toHaveLength(1001);
  });
});

describe('the networks of routes.allow', () => {
  it('are read as they stand, each once', () => {
    const { config, warnings } = read(
      'white_list: {processPaths: [a]}\nroutes:\n  allow: [10.42.0.0/16, "2001:db8::/32", 10.42.0.0/16]\n',
    );
    expect(config.routes.allow).toEqual(['10.42.0.0/16', '2001:db8::/32']);
    expect(warnings).toMatchObject([{ code: 'duplicateEntry', keyPath: 'routes.allow[2]' }]);
  });

  it('are, of link-local addresses, only the ones by themselves, and the error says so', () => {
    const of = (network: string) =>
      `white_list: {processPaths: [a]}\nroutes: {allow: [${network}]}\n`;
    expect(read(of('169.254.169.254')).config.routes.allow).toEqual(['169.254.169.254']);
    const expected = 'link-local addresses one by one, each with /32 or without a prefix';
    for (const network of ['169.254.0.0/16', '169.254.169.254/31', '169.0.0.0/8'])
      expect(problemsOf(of(network))).toMatchObject([{ keyPath: 'routes.allow[0]', expected }]);
  });
});

describe('origins', () => {
  it('tell for every key its effective value and where it is from', () => {
    const { origins } = read('white_list:\n  processPaths: [a]\nlisten: x\n');
    const set = origins.filter(({ origin }) => origin !== 'default');
    expect(set).toEqual([
      { key: 'listen', value: 'x', origin: { line: 3, column: 9 } },
      { key: 'white_list.processPaths[0]', value: { path: 'a' }, origin: { line: 2, column: 18 } },
    ]);
    const byDefault = read('').origins.filter(
      ({ key }) => !/^(?:listen|.*processPaths)$/.test(key),
    );
    expect(origins.filter((each) => !set.includes(each))).toEqual(byDefault);
  });
});

describe('what a run gets', () => {
  const entry = (more: string) =>
    read(`white_list: {processPaths: [{path: a, ${more}}]}`).config.whiteList.processPaths[0];

  it.each<[string, unknown]>([
    ['envs: any', { envs: 'any' }],
    ['envs: [any]', { envs: 'any' }],
    ['envs: KUBE_*', { envs: ['KUBE_*'] }],
    ['args: none', { args: 'none' }],
    ['args: any', { args: 'any' }],
    ['args: []', { args: [] }],
    ['args: [[]]', { args: [[]] }],
    [
      'args: [[up], [-c, {pathUnder: "C:\\\\x"}]]',
      { args: [['up'], ['-c', { pathUnder: 'C:\\x' }]] },
    ],
    ['args: [[80, true, "80", 007]]', { args: [['80', 'true', '80', '007']] }],
    [
      'args: [[{integer: {min: -1, max: 9}}, {port: true, after: --p=}, {oneOf: [a, 1]}]]',
      {
        args: [
          [{ integer: { min: -1, max: 9 } }, { port: true, after: '--p=' }, { oneOf: ['a', '1'] }],
        ],
      },
    ],
    ['directories: c:/x', { directories: ['c:/x'] }],
    ['argv0: listed', { argv0: 'listed' }],
    ['argv0: copy', { argv0: 'copy' }],
    ['for: administrators', { for: ['administrators'] }],
    ['for: [user:0, account:S-1-5-18]', { for: ['user:0', 'account:S-1-5-18'] }],
    [
      'for: [container:*, container:0123456789ab*]',
      { for: ['container:*', 'container:0123456789ab*'] },
    ],
  ])('is read from %s', (text, expected) => {
    expect(entry(text)).toMatchObject(expected as object);
  });

  it.each([
    ['envs: "*"', 'white_list.processPaths[0].envs[0]', 'the name of an environment variable'],
    ['envs: [any, A]', 'white_list.processPaths[0].envs', '"any" alone'],
    ['args: up', 'white_list.processPaths[0].args', 'none, any, or'],
    ['args: [up]', 'white_list.processPaths[0].args[0]', 'a list of arguments'],
    ['args:', 'white_list.processPaths[0].args', 'none, any, or'],
    ['args: [[{port: 80}]]', 'white_list.processPaths[0].args[0][0].port', 'true'],
    ['args: [[{rest: true}]]', 'white_list.processPaths[0].args[0][0]', 'pathUnder'],
    ['args: [[{oneOf: []}]]', 'white_list.processPaths[0].args[0][0].oneOf', 'at least one'],
    [
      'args: [[{integer: {min: 1}}]]',
      'white_list.processPaths[0].args[0][0].integer.max',
      'number',
    ],
    ['args: [[{port: true, port: true}]]', 'white_list.processPaths[0].args[0][0].port', 'once'],
    ['for: []', 'white_list.processPaths[0].for', 'at least one caller'],
    ['for:', 'white_list.processPaths[0].for', 'a list of callers'],
    ['for: everybody', 'white_list.processPaths[0].for[0]', 'user:UID'],
    ['for: user:root', 'white_list.processPaths[0].for[0]', 'user:UID'],
    ['for: "*"', 'white_list.processPaths[0].for[0]', 'user:UID'],
    ['for: container:0123*', 'white_list.processPaths[0].for[0]', '12 digits'],
    ['argv0: nginx', 'white_list.processPaths[0].argv0', 'copy or listed'],
    ['directories: [~]', 'white_list.processPaths[0].directories[0]', 'a path'],
  ])('is refused in %s', (text, keyPath, expected) => {
    const problems = problemsOf(`white_list: {processPaths: [{path: a, ${text}}]}`);
    expect(problems).toContainEqual(
      expect.objectContaining({ keyPath, expected: expect.stringContaining(expected) as string }),
    );
  });

  it('has variables of the operator, their names as he writes them', () => {
    const text = 'processEnvironment: {HTTP_PROXY: "http://x", http_proxy: y, N: 1, T: yes}';
    expect(read(text).config.processEnvironment).toEqual({
      HTTP_PROXY: 'http://x',
      http_proxy: 'y',
      N: '1',
      T: 'yes',
    });
  });

  it.each([
    [
      'processEnvironment: {A=B: x}',
      'processEnvironment.A=B',
      'the name of an environment variable',
    ],
    ['processEnvironment: {A: [x]}', 'processEnvironment.A', 'text'],
    ['processEnvironment: {A: }', 'processEnvironment.A', 'text'],
    ['processEnvironment: [A]', 'processEnvironment', 'NAME: value'],
    ['processEnvironment: {A: x, A: y}', 'processEnvironment.A', 'once'],
  ])('refuses %s', (text, keyPath, expected) => {
    expect(problemsOf(text)).toContainEqual(
      expect.objectContaining({ keyPath, expected: expect.stringContaining(expected) as string }),
    );
  });
});

describe('a path in double quotes, where a backslash begins an escape,', () => {
  const problemsOf = (text: string) => {
    try {
      parseConfig(text);
    } catch (error) {
      return (error as ConfigError).problems.filter(({ severity }) => severity === 'error');
    }
    return [];
  };

  it('is recognised when the escape makes something invisible, and answered', () => {
    expect(problemsOf('white_list:\n  processPaths: ["C:\\etc\\nginx.exe"]\n')).toMatchObject([
      {
        code: 'wrongValue',
        keyPath: 'white_list.processPaths[0].path',
        line: 2,
        found: '"C:\\etc\\nginx.exe" in double quotes, where a backslash begins an escape',
        nextStep: "write it in single quotes, or in none: 'C:\\etc\\nginx.exe'",
        message: expect.stringMatching(/; write it in single quotes, or in none: /) as string,
      },
    ]);
  });

  it('is recognised when there is no such escape, once for each line', () => {
    const text = 'white_list:\n  processPaths:\n    - "C:\\opt\\my\\other.exe"\n    - "C:\\Q"\n';
    expect(problemsOf(text)).toMatchObject([
      {
        code: 'syntax',
        line: 3,
        found: '"C:\\opt\\my\\other.exe" in double quotes, where a backslash begins an escape',
        nextStep: "write it in single quotes, or in none: 'C:\\opt\\my\\other.exe'",
      },
      { code: 'syntax', line: 4 },
    ]);
  });

  it('costs no time in a line that is as long as a file may be', () => {
    const [problem] = problemsOf(`listen: "${'\\"'.repeat(500_000)}\\q`);
    expect(problem).toMatchObject({ code: 'syntax' });
  });
});

it.each([
  ['an unknown escape', '"s3cret\\q"'],
  ['a tag', '!s3cret'],
  ['a tag with a handle', '!s3cret!more x'],
  ['a tag of YAML', '!!s3cret x'],
  ['a tag in brackets', '!<s3cret'],
  ['the header of a block', '|s3cret'],
  ['the header of a folded block', '>9s3cret'],
  ['an alias', '*s3cret'],
])('repeats no value of an environment variable that reads as %s', (_what, value) => {
  const read = () => parseConfig(`processEnvironment:\n  TOKEN: ${value}\n`);
  expect(read).toThrow('config:2:');
  expect(read).not.toThrow('s3cret');
});

it('repeats no value of an environment variable in a problem', () => {
  let message = '';
  try {
    parseConfig('processEnvironment: {TOKEN: "s3cret\\0", OTHER: [s3cret]}');
  } catch (error) {
    ({ message } = error as ConfigError);
  }
  expect(message).toContain('processEnvironment.TOKEN: found a text, expected text of at most');
  expect(message).not.toContain('s3cret');
});

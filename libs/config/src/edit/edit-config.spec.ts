import { encodeText } from '@wins/trusted-files';
import { type ConfigChanges, ConfigError, editConfig, parseConfig } from '../index.js';

function refusals(text: string, changes: ConfigChanges): string[] {
  try {
    editConfig(text, changes);
  } catch (error) {
    if (error instanceof ConfigError && error.code === 'invalid')
      return error.problems.filter(({ severity }) => severity === 'error').map(({ code }) => code);
    throw error;
  }
  return [];
}

const FILE = `# what the node runs
debug: off   # noisy

whiteList:
  # approved
  processPaths:
  - c:/a.exe   # first
  # before b
  - c:/b.exe
  -   path: c:/c.exe
      sha256: ${'ab'.repeat(32)}
  proxyPorts: [80, 443]   # http
custom:
  text: |
    # not a comment
    debug: true
`;

/** Returns removed (-) and added (+) lines. */
function changed(before: string, changes: ConfigChanges): string[] {
  const old = before.split('\n');
  const now = editConfig(before, changes).split('\n');
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `-${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+${line}`),
  ];
}

it('changes nothing when nothing is to be changed', () => {
  const messy = '\uFEFF# x\r\n\r\n\r\ndebug :   "off"\r\n'.replace('"off"', 'off');
  expect(editConfig(messy, {})).toBe(messy);
});

it('replaces a scalar and leaves the rest of its line', () => {
  expect(changed(FILE, { debug: true })).toEqual([
    '-debug: off   # noisy',
    '+debug: true   # noisy',
  ]);
});

it('changes that of two spellings which counts, and removes both', () => {
  const twins = 'white_list:\n  proxyPorts: [1]\nwhiteList:\n  proxyPorts: [2]\n';
  expect(editConfig(twins, { 'white_list.proxyPorts': [3] })).toBe(twins.replace('[1]', '[3]'));
  expect(editConfig(twins, { white_list: null })).toBe('');
});

it('keeps the encoding of bytes', () => {
  const bytes = (text: string) => encodeText(`\uFEFF${text}`, 'utf-16be');
  expect(editConfig(bytes('# é\r\r\ndebug: on\r\r\n'), { listen: 'x' })).toEqual(
    bytes('# é\r\r\ndebug: on\r\r\nlisten: "x"\r\r\n'),
  );
});

it('removes a key, and the comments above it stay', () => {
  expect(changed(FILE, { debug: null })).toEqual(['-debug: off   # noisy']);
  expect(editConfig('debug: on\ndebug: on\n', { debug: null })).toBe('');
  expect(editConfig('debug: on', { debug: null })).toBe('');
  expect(editConfig(FILE, { listen: null })).toBe(FILE);
});

it('removes a section with all that is in it', () => {
  expect(editConfig(FILE, { white_list: null })).toBe(
    FILE.replace(/whiteList:[^]*(?=custom:)/, ''),
  );
});

it('adds and removes entries of a list and leaves the others', () => {
  const kept = { path: 'c:/c.exe', sha256: ['ab'.repeat(32)] };
  const changes = {
    'white_list.processPaths': ['c:/b.exe', kept, 'c:/"d".exe', { path: 'c:/e', envs: ['A'] }],
  };
  expect(changed(FILE, changes)).toEqual([
    '-  - c:/a.exe   # first',
    '+  - "c:/\\"d\\".exe"',
    '+  - {"path": "c:/e", "envs": ["A"]}',
  ]);
});

it('takes back what an entry was allowed, also when nothing else of it changes', () => {
  const text = 'white_list:\n  processPaths:\n    - path: a\n      mayBreakAway: true\n';
  const after = editConfig(text, { 'white_list.processPaths': ['a'] });
  expect(after).not.toContain('mayBreakAway');
  const given = editConfig(after, {
    'white_list.processPaths': [{ path: 'a', mayBreakAway: true }],
  });
  expect(given).toContain('mayBreakAway');
});

it('narrows the arguments of an entry, and lets an entry that has the same ones alone', () => {
  const args = [['-c', { pathUnder: '/etc/a' }], []];
  const wanted = { 'white_list.processPaths': [{ path: 'a', args, directories: ['/d'] }] };
  const after = editConfig('white_list:\n  processPaths:\n    - a\n', wanted);
  expect(parseConfig(after).config.whiteList.processPaths).toMatchObject([
    { path: 'a', args, directories: ['/d'] },
  ]);
  expect(editConfig(after, wanted)).toBe(after);
});

it('puts the entries of a list into a new order', () => {
  const after = editConfig('white_list:\n  proxyPorts:\n    - 1\n    - 2 # two\n    - 3\n', {
    'white_list.proxyPorts': [3, 1],
  });
  expect(after).toBe('white_list:\n  proxyPorts:\n    - 3\n    - 1\n');
});

it.each([
  ['[1, 2, 3]', [2], '[2]'],
  ['[1, 2, 3]', [1, 3, 4], '[1, 3, 4]'],
  ['[1, 2, 3,]', [1, 2], '[1, 2,]'],
  ['[1,2,]', [], '[]'],
  ['[]', [5], '[5]'],
  ['[ 1 ]', [2, 3], '[2, 3]'],
  ['[1, # one\n   2 # two\n  ]', [1, 2, 3], '[1, # one\n   2,\n   3 # two\n  ]'],
  ['', [1, 2], '\n  - 1\n  - 2'],
  ['~', [1], '[1]'],
])('edits the list %j to %j', (list, ports, wanted) => {
  const text = `white_list:\n  debug: 1\n  proxyPorts: ${list}\nlisten: x\n`.replace(
    '  debug: 1\n',
    '',
  );
  const after = editConfig(text, { 'white_list.proxyPorts': ports });
  expect(after.replace(/: \n {4}/, ': \n  ').replace(/\n {4}-/g, '\n  -')).toBe(
    `white_list:\n  proxyPorts: ${wanted}\nlisten: x\n`,
  );
});

it('empties a list of lines', () => {
  const after = editConfig('white_list:\n  proxyPorts:\n  # why\n  - 1\n  - 2\n', {
    'white_list.proxyPorts': [],
  });
  expect(after).toBe('white_list:\n  proxyPorts: []\n  # why\n');
});

it('adds a key in the spelling, indentation and line ends of the file', () => {
  expect(
    editConfig('whitelist:\r\n   proxyports: [1]\r\ndebug: on', {
      'white_list.processPaths': ['a'],
      listen: 'x',
    }),
  ).toBe(
    'whitelist:\r\n   proxyports: [1]\r\n   processPaths:\r\n     - "a"\r\ndebug: on\r\nlisten: "x"\r\n',
  );
});

it('adds a section, also to a file without content', () => {
  const changes = { 'systemagent.localEnabled': true, 'systemagent.workDirectory': 'c:/w' };
  const section = 'systemagent:\n  localEnabled: true\n  workDirectory: "c:/w"\n';
  expect(editConfig('', changes)).toBe(section);
  expect(editConfig('# only this', changes)).toBe(`# only this\n${section}`);
  expect(editConfig('systemagent: # soon\ndebug: on\n', changes)).toBe(
    section.replace(':', ': # soon') + 'debug: on\n',
  );
});

it('adds behind a block scalar', () => {
  expect(editConfig(FILE, { listen: 'x' })).toBe(`${FILE}listen: "x"\n`);
});

it('keeps JSON JSON', () => {
  const value = { whiteList: { processPaths: ['c:\\a.exe'], proxyPorts: [1] }, other: [null] };
  for (const indent of ['\t', 2, undefined]) {
    const text = `\uFEFF${JSON.stringify(value, null, indent)}`;
    const after = editConfig(text, {
      debug: true,
      'white_list.processPaths': ['c:\\a.exe', 'c:\\b.exe'],
      'white_list.proxyPorts': [],
      'tls-config.insecure': false,
    });
    expect(JSON.parse(after.slice(1))).toEqual({
      whiteList: { processPaths: ['c:\\a.exe', 'c:\\b.exe'], proxyPorts: [] },
      other: [null],
      debug: true,
      'tls-config': { insecure: false },
    });
    const emptied = editConfig(after, { debug: null, white_list: null });
    expect(JSON.parse(emptied.slice(1))).toEqual({
      other: [null],
      'tls-config': { insecure: false },
    });
  }
  expect(editConfig('{}', { debug: true })).toBe('{"debug": true}');
  expect(editConfig('{"debug": true}', { debug: null })).toBe('{}');
});

it.each([
  ['what', 1, 'unknownKey'],
  ['debgu', true, 'unknownKey'],
  ['white_list.processPaths[0]', 'a', 'unknownKey'],
  ['__proto__', true, 'unknownKey'],
  ['white_list', ['a'], 'wrongType'],
  ['debug', 'maybe', 'wrongType'],
  ['listen', '', 'wrongValue'],
  ['listen', 'a\nb: c', 'wrongValue'],
  ['white_list.proxyPorts', [0], 'wrongValue'],
  ['white_list.proxyPorts', [Number.NaN], 'wrongType'],
  ['csi-proxy.url', 'https://x', 'missing'],
])('refuses to set %s to %j', (path, value, code) => {
  expect(refusals('# x\n', Object.fromEntries([[path, value]]))).toContain(code);
});

it('refuses to edit a file that is not valid', () => {
  expect(refusals('listen: [', { debug: true })).toEqual(['syntax']);
});

it.each([
  ['debug: &a true\nagentStrictTLSMode: *a\n', { debug: false }],
  ['x: &w {proxyPorts: [1]}\nwhite_list: *w\n', { 'white_list.proxyPorts': [2] }],
])('refuses to edit %j, where other keys would change', (text, changes) => {
  expect(refusals(text, changes)).toEqual(['unsupported']);
});

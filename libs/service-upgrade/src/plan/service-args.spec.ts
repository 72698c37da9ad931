import { configFileOf, mergeServiceArgs, refuseConfig, runsDaemon } from './service-args.js';

const RUN = ['srv', 'app', 'run'];

describe('the arguments of the service after an upgrade', () => {
  it('are those before when none are given', () => {
    expect(mergeServiceArgs([...RUN, '--config', 'a b', 'odd'], undefined)).toEqual([
      ...RUN,
      '--config',
      'a b',
      'odd',
    ]);
  });

  it.each([
    [undefined, '', RUN],
    [undefined, '--config "c:\\a b\\c"', [...RUN, '--config', 'c:\\a b\\c']],
    [[...RUN, '--config', 'a'], '--config b', [...RUN, '--config', 'b']],
    [[...RUN, '-config=a', '--debug'], '-config b', [...RUN, '--debug', '--config', 'b']],
    [[...RUN, '--config', 'a'], '--debug', [...RUN, '--config', 'a', '--debug']],
    [['server', 'application', 'run'], '--debug', [...RUN, '--debug']],
    [RUN, 'srv app run --profile cpu', [...RUN, '--profile', 'cpu']],
    [[...RUN, '--register'], '--debug', [...RUN, '--register', '--debug']],
    [RUN, '--config=Zoë=ß', [...RUN, '--config', 'Zoë=ß']],
    [RUN, "'--config=c:\\etc\\config'", [...RUN, '--config', 'c:\\etc\\config']],
    [RUN, ' "--config=c:\\etc\\config" ', [...RUN, '--config', 'c:\\etc\\config']],
    [RUN, "'--config c:\\a --debug'", [...RUN, '--config', 'c:\\a', '--debug']],
    [RUN, '"--config c:\\a --debug"', [...RUN, '--config', 'c:\\a', '--debug']],
    [RUN, '"--config=c:\\a b\\c"', [...RUN, '--config', 'c:\\a b\\c']],
    [RUN, `'--config "c:\\a b\\c" --debug'`, [...RUN, '--config', 'c:\\a b\\c', '--debug']],
    [RUN, `"--config='c:\\a b\\c'"`, [...RUN, '--config', 'c:\\a b\\c']],
    [RUN, "--config='c:\\a b\\' --debug", [...RUN, '--config', 'c:\\a b\\', '--debug']],
    [RUN, "--config 'c:\\a' --profile 'cpu'", [...RUN, '--config', 'c:\\a', '--profile', 'cpu']],
    [RUN, `--config "c:\\o'neill\\a"`, [...RUN, '--config', "c:\\o'neill\\a"]],
    [RUN, "--config=c:\\o'neill\\a", [...RUN, '--config', "c:\\o'neill\\a"]],
    [[...RUN, '--debug=true'], '--config a', [...RUN, '--debug=true', '--config', 'a']],
    [RUN, '-debug=false --config a', [...RUN, '--debug=false', '--config', 'a']],
    [[...RUN, '--config', 'a'], "''", [...RUN, '--config', 'a']],
    [[...RUN, '--config', 'a'], '""', [...RUN, '--config', 'a']],
  ])('of %j and %j are %j', (existing, given, merged) => {
    expect(mergeServiceArgs(existing, given)).toEqual(merged);
  });

  it.each([
    '--register',
    '-register',
    '--unregister',
    '--register=true',
    'srv app run --register',
    '--debug --unregister',
    '"--register"',
    '--config a --regi"ster"',
    "'--register'",
    "'--debug --unregister'",
    '\'--debug "--register"\'',
  ])('are refused when %j would register or unregister', (given) => {
    expect(() => mergeServiceArgs(RUN, given)).toThrow(/register/);
  });

  it.each([
    '&& calc',
    '--config',
    '--debug srv',
    '--config a b',
    "'&& calc'",
    "'--config a b'",
    "'",
    `'--config=a`,
    `--config=a'`,
    `--config='a`,
    `'--config=a"`,
    `''--config=a''`,
    `"--config 'a"`,
  ])('are refused as %j', (given) => {
    expect(() => mergeServiceArgs(RUN, given)).toThrow(/cannot use the arguments/);
  });

  it('tell which config the service reads', () => {
    expect(configFileOf([...RUN, '--config', 'a', '-config=b'], undefined)).toBe('b');
    expect(configFileOf([...RUN, '--debug'], undefined)).toBeUndefined();
    expect(configFileOf(['something', 'else'], undefined)).toBeUndefined();
  });
});

describe('the words of a service', () => {
  it.each([
    ['srv app run', true],
    ['srv app run --config C:\\x', true],
    ['--debug server application run', true],
    ['server', false],
    ['server run', false],
    ['srv config check', false],
    ['agent srv app run', false],
    ['', false],
  ])('"%s": whether they run a daemon is %s', (words, expected) => {
    expect(runsDaemon(words.split(' '))).toBe(expected);
  });
});

describe('the config that a service reads', () => {
  const DEFAULT = { linux: '/etc/rancher/wins/config', win32: 'c:/etc/rancher/wins/config' };

  it.each([
    [['--config', '/etc/a'], '/etc/a', 'linux'],
    [['--config', '/etc/../etc/a'], '/etc/a', 'linux'],
    [['--config', 'c:/etc/A'], 'C:\\etc\\a', 'win32'],
    [[], '/etc/rancher/wins/config', 'linux'],
    [[], 'C:\\etc\\rancher\\wins\\config', 'win32'],
    [['--config', '/etc/a'], undefined, 'linux'],
  ] as const)('is, with %j, the expected one: %s', (words, expected, platform) => {
    expect(refuseConfig([...RUN, ...words], expected, DEFAULT[platform], platform)).toBeUndefined();
  });

  it.each([
    [['--config', '/etc/a'], '/etc/A', 'linux'],
    [['--config', '/etc/a'], '/etc/a/../b', 'linux'],
    [[], 'c:\\etc\\rancher\\wins\\wins.yaml', 'win32'],
  ] as const)('is, with %j, not %s, and what to do is told', (words, expected, platform) => {
    const told = refuseConfig([...RUN, ...words], expected, DEFAULT[platform], platform);
    expect(told).toMatch(/^the service reads the config .*; wanted .* Deliver the config to/);
    expect(told).toContain(`wins-upgrade up --wins-args '--config "${expected}"'`);
  });
});

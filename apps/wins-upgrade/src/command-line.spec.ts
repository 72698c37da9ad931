import { apartArguments, parseCommandLine } from './command-line.js';

describe('the command line of wins up', () => {
  it('has defaults', () => {
    expect(parseCommandLine(['up'])).toEqual({
      wish: { allowDowngrade: false },
      path: undefined,
      service: undefined,
      waitMs: undefined,
      dryRun: false,
      debug: false,
      quiet: false,
      json: false,
      id: undefined,
      apart: false,
      askedBy: undefined,
      attempt: undefined,
      knownVersions: new Map(),
      sweep: false,
      show: undefined,
    });
  });

  it('takes one dash for two, and any next word for a value', () => {
    const { wish, debug, path } = parseCommandLine([
      ...['-debug', 'upgrade', '-wins-args', '--config "c:\\a b"', '--path', '/x/../y'],
    ]);
    expect(wish.winsArgs).toBe('--config "c:\\a b"');
    expect(debug).toBe(true);
    expect(path).toBe('/y');
  });

  it.each([
    [['up', '--help'], 'help'],
    [['up', '-h'], 'help'],
    [['up', '-v'], 'version'],
    [['up', '--show-result'], 'result'],
  ])('%j asks for a text', (argv, show) => {
    expect(parseCommandLine(argv).show).toBe(show);
  });

  it.each([
    [['up', 'down']],
    [['up', '--path']],
    [['up', '--sha256=1']],
    [['up', '--wait', '1h1s']],
    [['up', '--wait', '0']],
    [['up', '--attempt', 'x']],
    [['up', '--known-version', 'x=y']],
    [['up', '--id', '../x']],
  ])('%j makes no sense', (argv) => {
    expect(() => parseCommandLine(argv)).toThrow('the command line makes no sense');
  });

  it.each([
    ['60', 60_000],
    ['1m30s', 90_000],
    ['1h', 3_600_000],
  ])('takes %s to wait', (text, waitMs) => {
    expect(parseCommandLine(['up', '--wait', text]).waitMs).toBe(waitMs);
  });

  it('says the same to the helper that leaves its run', () => {
    const digest = 'a'.repeat(64);
    const words = ['up', '--wins-args=--debug "x y"', '--path=/a b', `--sha256=${digest}`];
    const command = parseCommandLine([
      ...words,
      '--wait=90s',
      '--service=/s',
      ...['--id=a-1', '--asked-by=ab12', '--expect-config=/c'],
      ...['--allow-downgrade', '--attempt=2'],
      ...[`--known-version=${digest}=v1.0.0`, `--known-version=${'b'.repeat(64)}=v1.1.0=x`],
    ]);
    expect(parseCommandLine(apartArguments(command))).toEqual({ ...command, apart: true });
  });
});

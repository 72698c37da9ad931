import { normalizeArgv } from './go-style-argv.js';

describe('a command line', () => {
  it.each([
    [
      ['cli', '-path', '/a'],
      ['cli', '--path=/a'],
    ],
    [
      ['--path', '/a', 'x'],
      ['--path=/a', 'x'],
    ],
    [['-path=/a=b'], ['--path=/a=b']],
    [['--args', '-v --x'], ['--args=-v --x']],
    [['--args', '--'], ['--args=--']],
    [
      ['-debug', 'cli'],
      ['--debug', 'cli'],
    ],
    [['--debug=false'], ['--debug=false']],
    [['-h'], ['-h']],
    [
      ['-o', 'table'],
      ['-o', 'table'],
    ],
    [['--path'], ['--path']],
    [
      ['srv', 'app', 'run', '-register', '--delayed-start', '--config', 'a b'],
      ['srv', 'app', 'run', '--register', '--delayed-start', '--config=a b'],
    ],
  ])('of Go programs: %j is read as %j', (argv, normalized) => {
    expect(normalizeArgv(argv)).toEqual(normalized);
  });

  it('is left alone after --', () => {
    expect(normalizeArgv(['--path', '/a', '--', '-path', 'b', '--', '-x'])).toEqual([
      '--path=/a',
      '--',
      '-path',
      'b',
      '--',
      '-x',
    ]);
  });
});

import { root } from './root.js';
import { readWords } from '../command-line/read-words.js';

function read(...argv: string[]) {
  const { path, options, words, rest } = readWords([root], argv);
  const command = path.map(({ name }) => name).join(' ');
  return { command, options: Object.fromEntries(options), words, rest };
}

const RUN = ['cli', 'prc', 'run', '--path', '/a'];

describe('the words of a command line', () => {
  it.each([
    [['-path', '/a'], { path: ['/a'] }],
    [['--path', '/a'], { path: ['/a'] }],
    [['-path=/a=b'], { path: ['/a=b'] }],
    [['--path', '/a', '--path', '/b'], { path: ['/b'] }],
    [['--path', '/a', '--args', '-v --x'], { path: ['/a'], args: ['-v --x'] }],
    [['--path', '/a', '--args', '--'], { path: ['/a'], args: ['--'] }],
    [['--path', '/a', '--args', '--quiet'], { path: ['/a'], args: ['--quiet'] }],
    [['--path', '/a', '--dir='], { path: ['/a'], dir: [''] }],
    [['-debug', '--path', '/a'], { path: ['/a'], debug: ['true'] }],
    [['--debug=T', '--path', '/a'], { path: ['/a'], debug: ['true'] }],
    [['--debug', '--debug=false', '--path', '/a'], { path: ['/a'] }],
  ])('of Go programs: prc run %j means %j', (words, options) => {
    expect(read('cli', 'prc', 'run', ...words)).toMatchObject({ options });
  });

  it.each([
    [['-e', 'A=b c', '--env=D='], { env: ['A=b c', 'D='] }],
    [['-w', '/tmp'], { dir: '/tmp' }],
    [['--cpus', '500m'], { cpus: 0.5 }],
    [['--cpus', '2.25'], { cpus: 2.25 }],
    [['--memory', '1TiB'], { memory: 2 ** 40 }],
    [['--restart', 'unless-stopped'], { restart: 'unless-stopped' }],
  ])('of docker and Kubernetes: prc run %j means %j', (words, values) => {
    expect(readWords([root], [...RUN, ...words]).values).toMatchObject(values);
  });

  it('ask for names only by -q, where an answer has names', () => {
    expect(read('cli', 'prc', 'ls', '-q', '-a').options).toEqual({
      output: ['name'],
      detached: ['true'],
    });
    expect(() => read('logs', '-q')).toThrow('unknown option "-q"');
  });

  it.each([
    ['-ojson'],
    ['-o=json'],
    ['-output', 'json'],
    ['--json'],
    ['-oyaml', '--json'],
    ['-json'],
  ])('ask for a form of the answer: %s %s', (...words) => {
    expect(read('cli', 'prc', 'ls', ...words).options).toEqual({ output: ['json'] });
  });

  it('know a command by its other names, with options anywhere', () => {
    expect(read('--debug', 'client', '-quiet', 'process', 'ls', '-o', 'name')).toMatchObject({
      command: 'wins cli prc ls',
      options: { debug: ['true'], quiet: ['true'], output: ['name'] },
    });
    expect(read('server', '--config', 'a b', 'config', 'check').options).toEqual({
      config: ['a b'],
    });
  });

  it('are left alone after --', () => {
    const rest = ['-path', 'b', '--', '-x', '--quiet'];
    expect(read(...RUN, '--', ...rest)).toMatchObject({ options: { path: ['/a'] }, rest });
    expect(read('cli', 'prc', 'stop', '--', '-x')).toMatchObject({ words: ['-x'] });
    expect(read('cli', 'prc', 'rm', 'a', '--quiet', 'b', '--', '-x')).toMatchObject({
      words: ['a', 'b', '-x'],
    });
  });

  it('of a helper that left its run are those of every release', () => {
    const digest = 'a'.repeat(64);
    const words = ['--apart', '--wins-args=--debug "x y"', '--wait=90000ms', '--attempt=2'];
    const known = [`--known-version=${digest}=v1.0.0`, `--known-version=${digest}=v1.1.0=x`];
    expect(read('up', ...words, ...known).options).toEqual({
      apart: ['true'],
      'wins-args': ['--debug "x y"'],
      wait: ['90000ms'],
      attempt: ['2'],
      'known-version': [`${digest}=v1.0.0`, `${digest}=v1.1.0=x`],
    });
  });

  it.each([
    [['cli', 'prc', 'rn'], 'unknown command "rn"; did you mean "run"?'],
    [['srv', 'ap', 'run'], 'unknown command "ap"; did you mean "app"?'],
    [['cli', 'porxy'], 'unknown command "porxy"; did you mean "proxy"?'],
    [['nonsense'], 'unknown command "nonsense"'],
    [['x'.repeat(100_000)], 'unknown command'],
    [['--debg'], 'unknown option "--debg"; did you mean "--debug"?'],
    [['-debg'], 'unknown option "-debg"; did you mean "--debug"?'],
    [[...RUN, '--pth', 'x'], 'unknown option "--pth"; did you mean "--path"?'],
    [['cli', 'prc', 'ls', '--format', 'x'], 'unknown option "--format"; use -o jsonpath=TEMPLATE'],
    [[...RUN, '--format', 'x'], 'unknown option "--format"'],
    [[...RUN, '--__proto__', 'x'], 'unknown option "--__proto__"'],
    [[...RUN, '-vh'], 'unknown option "-vh"'],
    [[...RUN, '--no-debug'], 'unknown option "--no-debug"'],
    [[...RUN, '--json'], 'unknown option "--json"'],
    [[...RUN, 'a', 'word'], 'unexpected argument "word": this command takes one program only'],
    [['cli', 'prc', 'ls', 'word'], 'this command takes options only'],
    [['cli', 'prc', 'wait', 'a', 'b'], 'unexpected argument "b"'],
    [
      ['cli', 'prc'],
      'a command is missing: run, ls, stats, top, stop, start, restart, logs, attach, wait, inspect or rm',
    ],
    [[...RUN, '--cpus', '0m'], '--cpus: found "0m"; wanted a number of processors'],
    [['cli', 'prc', 'stop'], 'NAME is missing'],
    [['cli', 'app', 'info', '--server'], 'option --server needs a value: --server PIPE'],
    [['srv', 'app', 'run', '--config'], 'option --config needs a value: --config FILE'],
    [[...RUN, '--dir'], 'option --dir needs a value: --dir FOLDER'],
    [['--debug=maybe'], '--debug: found "maybe"; wanted true or false'],
    [
      ['cli', 'prc', 'ls', '-o', 'xml'],
      '--output: found "xml"; wanted json, yaml, table, name, wide or jsonpath=TEMPLATE, such as jsonpath={.name}',
    ],
    [
      ['cli', 'prc', 'ls', '--wait-timeout', '900h'],
      '--wait-timeout: found "900h"; wanted a duration from 0s to 1d, such as 500ms, 90s or 1m30s',
    ],
    [['up', '--sha256=1'], '--sha256: found "1"; wanted 64 hexadecimal digits'],
    [['up', '--wait', '0'], '--wait: found "0"'],
    [['up', '--attempt', 'x'], '--attempt: found "x"'],
    [['up', '--id', '../x'], '--id: found "../x"'],
    [['up', 'down'], 'unexpected argument "down"'],
  ])('%j make no sense', (argv, message) => {
    expect(() => read(...argv)).toThrow(message);
  });
});

describe('every command', () => {
  type Node = (typeof root.commands)[number];
  const all = (node: Node): Node[] =>
    'commands' in node ? [node, ...node.commands.flatMap(all)] : [node];
  const commands = root.commands.flatMap(all).filter((node) => !('commands' in node));

  it.each(commands.map((node) => [node.name, node] as const))(
    '%s has a sentence, examples that are read, and a page to read on',
    (_name, node) => {
      expect(node.summary).toMatch(/^[A-Z][^.\n]*$/);
      expect(node.page).toMatch(/^[a-z-]+\.md$/);
      for (const [words] of node.examples ?? []) {
        const argv = [...words.replace(/ >.*/, '').matchAll(/"([^"]*)"|(\S+)/g)];
        expect(() => read(...argv.map(([, quoted, plain = '']) => quoted ?? plain))).not.toThrow();
      }
    },
  );
});

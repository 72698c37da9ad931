import { decidedByRun, requireWordsOfRun } from './require-words-of-run.js';

const inRun = (...words: string[]) => requireWordsOfRun(words);

describe('in a run of a daemon', () => {
  it('an upgrade may be asked for, by a name, and of certain bytes', () => {
    const digest = 'a'.repeat(64);
    const words = ['up', '--json', '--id', 'pod-1', `-sha256=${digest}`, '--expect-config', '/c'];
    expect(inRun(...words)).toEqual([
      'up',
      '--json',
      '--id=pod-1',
      `--sha256=${digest}`,
      '--expect-config=/c',
    ]);
  });

  it.each([
    [
      ['upgrade', '--show-result'],
      ['up', '--show-result'],
    ],
    [
      ['up', '--help'],
      ['up', '--help'],
    ],
    [
      ['up', `--expect-config='/etc/wins'`, `--id="pod-1"`],
      ['up', '--expect-config=/etc/wins', '--id=pod-1'],
    ],
    [
      ['up', `--expect-config='/etc/wins"`, `--id='`],
      ['up', `--expect-config='/etc/wins"`, `--id='`],
    ],
    [['--help'], ['up', '--help']],
    [['-h'], ['up', '--help']],
    [['--version'], ['up', '--version']],
  ])('%j may be asked', (words, judged) => {
    expect(inRun(...words)).toEqual(judged);
  });

  it.each([
    [['up', '--id', '--quiet'], '--id=--quiet'],
    [['up', '--id', '--wins-args=x'], '--id=--wins-args=x'],
    [['up', '-id', '--', '--json'], '--id=--'],
    [['up', '--id=', '--json'], '--id='],
  ])('%j is a value and no option for whoever reads it next', (words, judged) => {
    expect(inRun(...words)).toContain(judged);
  });

  it.each([
    [['up', '--wins-args', '--config "/his" --quiet'], 'found --wins-args', 'wins cli deliver'],
    [['up', '-wins-args=--config /his'], 'found --wins-args', 'wins-upgrade up --wins-args'],
    [['up', '--wins-args', ''], 'found --wins-args', 'the registration of the service'],
    [['up', `--wins-args='--config=/his'`], 'found --wins-args', 'wins cli deliver'],
    [['up', `'--wins-args=--config=/his'`], 'found the words', ''],
    [['up', '--json', '--quiet'], 'found --quiet', 'silence'],
    [['up', '--service', '/his'], 'found --service', 'the service of the daemon'],
    [['up', '--path', '/his'], 'found --path', 'the program that it runs'],
    [['up', '--allow-downgrade'], 'found --allow-downgrade', 'on the host'],
    [['up', '--allow-drop', 'systemagent'], 'found --allow-drop', 'wins cli deliver'],
    [['up', '--wait', '1ms'], 'found --wait', ''],
    [['up', '--debug'], 'found --debug', ''],
    [['up', '--apart'], 'found --apart', ''],
    [['up', '--asked-by=x'], 'found --asked-by', ''],
    [['up', '--sweep'], 'found --sweep', ''],
    [['up', '--attempt=3'], 'found --attempt', ''],
    [['up', '--known-version', 'x'], 'found --known-version', ''],
    [['up', '--output=json'], 'found --output', ''],
    [['up', '-ojson'], 'found --ojson', ''],
    [['up', '-o', 'json'], 'found "-o"', ''],
    [['up', '--config', '/his'], 'found --config', ''],
    [['up', '--constructor'], 'found --constructor', ''],
    [['up', '--json=false'], 'found an invalid word', ''],
    [['up', '--id'], 'found an invalid word', ''],
    [['up', '--', '--json'], 'found "--"', ''],
    [['up', '-'], 'found "-"', ''],
    [['help', 'up'], 'found the words "help up"', ''],
    [['up', 'srv', 'app', 'run'], 'found the words "up srv app run"', ''],
    [['srv', 'app', 'run', '--register'], 'register', ''],
    [['srv', '--version'], 'found the words "srv"', ''],
    [['--config', 'up', 'srv'], '--config', ''],
    [['--get-completions', 'wins', ''], 'found --get-completions', ''],
    [['--json'], 'found no command', ''],
    [[], 'found no command', ''],
  ])('%j is refused, and told what may be said', (words, found, instead) => {
    const told = /^cannot do this in a run of a daemon: .*; wanted up with only --sha256, /;
    expect(() => inRun(...words)).toThrow(told);
    expect(() => inRun(...words)).toThrow(found);
    expect(() => inRun(...words)).toThrow(instead);
  });

  it('nobody gives an upgrade a name such as a daemon gives to its own', () => {
    const run = { name: 'ab12', service: '/s' };
    expect(decidedByRun(run, { id: 'pod-1' })).toEqual({ service: '/s', askedBy: 'ab12' });
    expect(() => decidedByRun(run, { id: 'watched-3-x' })).toThrow('watched-');
  });
});

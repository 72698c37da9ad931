import { enterRun } from './enter-run.js';

describe('the environment of a process', () => {
  it('is left alone where no daemon has started it', () => {
    const environment = { WINS_SERVICE: 'a', RANCHER_WINS_SERVICE: 'b', HOME: '/root' };
    const before = { ...environment };
    expect(enterRun(environment)).toBeUndefined();
    expect(environment).toEqual(before);
  });

  it('keeps in a run what belongs to the system, and nothing that a client chose', () => {
    const kept = { RANCHER_WINS_RUN: 'ab12:line:1:2', PATH: '/bin', SystemRoot: 'C:\\Windows' };
    const environment = {
      ...kept,
      WINS_RUNTIME_DIR: '/his',
      WINS_SERVICE: '/his',
      XDG_RUNTIME_DIR: '/his',
      HOME: '/his',
      TMPDIR: '/his',
      TEMP: 'C:\\his',
      NODE_OPTIONS: '-r his',
      wins_x: '',
      RANCHER_WINS_SERVICE: '/etc/service.json',
    };
    expect(enterRun(environment)).toEqual({ name: 'ab12', service: '/etc/service.json' });
    expect(environment).toEqual(kept);
  });

  it('looks for pipes where its daemon has them', () => {
    const environment = {
      RANCHER_WINS_RUN: 'ab12',
      RANCHER_WINS_RUNTIME_DIR: '/run/a',
      WINS_RUNTIME_DIR: '/his',
    };
    enterRun(environment);
    expect(environment).toEqual({ RANCHER_WINS_RUN: 'ab12', WINS_RUNTIME_DIR: '/run/a' });
  });

  it.each([
    ['', undefined],
    ['ab12', 'ab12'],
    ['../x:y', undefined],
    ['a'.repeat(65), undefined],
  ])('is that of a run whatever the mark says: %j', (mark, name) => {
    expect(enterRun({ RANCHER_WINS_RUN: mark })).toEqual({ name, service: undefined });
  });
});

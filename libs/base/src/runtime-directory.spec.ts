import { runtimeDirectory } from './runtime-directory.js';

describe('runtimeDirectory', () => {
  test.each([
    [
      'what WINS_RUNTIME_DIR says',
      { WINS_RUNTIME_DIR: '/srv/a', XDG_RUNTIME_DIR: '/x' },
      0,
      '/srv/a',
    ],
    ['that without its last slash', { WINS_RUNTIME_DIR: '/srv/a/' }, 0, '/srv/a'],
    ['/run/rancher-wins for root', { XDG_RUNTIME_DIR: '/run/user/0' }, 0, '/run/rancher-wins'],
    [
      'one in XDG_RUNTIME_DIR for others',
      { XDG_RUNTIME_DIR: '/run/user/7' },
      7,
      '/run/user/7/rancher-wins',
    ],
    ['the next choice when a variable is empty', { WINS_RUNTIME_DIR: '' }, 0, '/run/rancher-wins'],
  ])('is %s', (_what, env, uid, expected) => {
    expect(runtimeDirectory(env, uid)).toBe(expected);
  });

  test('says what to set when nothing names a directory', () => {
    expect(() => runtimeDirectory({}, 1000)).toThrow(
      expect.objectContaining({
        code: 'notFound',
        message: expect.stringContaining('set WINS_RUNTIME_DIR') as string,
      }) as Error,
    );
  });

  test.each(['relative', './x', '/srv/../etc', '/srv/a\0b'])('refuses %j', (directory) => {
    for (const env of [{ WINS_RUNTIME_DIR: directory }, { XDG_RUNTIME_DIR: directory }])
      expect(() => runtimeDirectory(env, 7)).toThrow(
        expect.objectContaining({ code: 'invalidName' }) as Error,
      );
  });
});

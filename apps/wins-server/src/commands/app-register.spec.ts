import { run } from '../main.js';

describe('wins srv app run', () => {
  let said: string;
  beforeEach(() => {
    said = '';
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += String(text);
      return true;
    });
  });
  afterEach(() => jest.restoreAllMocks());

  it.each([
    ['--register', 'register the service rancher-wins'],
    ['--unregister', 'remove the service rancher-wins'],
  ])(
    '%s fails elsewhere than on Windows, and says who starts the daemon there',
    async (flag, action) => {
      await expect(run(['srv', 'app', 'run', flag])).resolves.toBe(69);
      expect(said).toBe(
        `wins: cannot ${action}: found ${process.platform}; wanted Windows; elsewhere a supervisor such as systemd runs "wins srv app run"\n`,
      );
    },
  );

  it('cannot register and unregister at once', async () => {
    await expect(run(['srv', 'app', 'run', '--register', '--unregister'])).resolves.toBe(64);
    expect(said).toContain('exclude each other');
  });

  it('starts with the options that a service of an earlier release may have', async () => {
    const options = ['--delayed-start', '--profile', 'cpu', '--profile-output', 'x'];
    const config = ['--config', __filename];
    // As far as the config, which this file is not.
    await expect(run(['srv', 'app', 'run', ...options, ...config])).resolves.toBe(78);
  });
});

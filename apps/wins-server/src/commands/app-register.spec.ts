import { runApp } from '../main.js';

const run = (options: Partial<Parameters<typeof runApp>[0]>) =>
  runApp(
    { debug: false, quiet: false, register: false, unregister: false, ...options },
    { show: () => Promise.resolve(true) },
  );

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
    ['register', 'register the service rancher-wins'],
    ['unregister', 'remove the service rancher-wins'],
  ])(
    '--%s fails elsewhere than on Windows, and says who starts the daemon there',
    async (flag, action) => {
      await expect(run({ [flag]: true })).resolves.toBe(69);
      expect(said).toBe(
        `wins: cannot ${action}: this is ${process.platform}, not Windows. Have a supervisor such as systemd run "wins srv app run"\n`,
      );
    },
  );

  const profile = { 'delayed-start': true, profile: 'goroutine', 'profile-output': 'x' } as const;

  it('starts with the options that a service of an earlier release may have', async () => {
    process.env['WINS_SERVICE'] = __filename;
    try {
      // Fails with 78, because this file is not a config.
      await expect(run({ ...profile, config: __filename })).resolves.toBe(78);
    } finally {
      delete process.env['WINS_SERVICE'];
    }
  });
});

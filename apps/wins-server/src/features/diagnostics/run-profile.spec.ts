import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLoggerTo } from '../../kernel/log/logger.js';
import { startRunProfile, type ProfileOptions } from './run-profile.js';

describe('the profile of a whole run', () => {
  let folder: string;
  let log: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-profile-'));
    log = '';
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const record = (options: ProfileOptions): Promise<AsyncDisposable> => recordIn(folder, options);
  const recordIn = (
    location: string | undefined,
    options: ProfileOptions,
  ): Promise<AsyncDisposable> =>
    startRunProfile(
      options,
      location,
      createLoggerTo({ debug: false, quiet: false }, { write: (line) => void (log += line) }),
    );

  it.each([
    ['cpu', 'wins.cpuprofile', 'nodes'],
    ['heap', 'wins.heapprofile', 'head'],
  ] as const)(
    '%s is written at its end, in place of the one before',
    async (profile, name, key) => {
      const file = path.join(folder, name);
      writeFileSync(file, 'of the run before');
      const recording = await record({ profile });
      expect(readFileSync(file, 'utf8')).toBe('of the run before');
      await recording[Symbol.asyncDispose]();
      expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty(key);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    },
  );

  it('has the name that was asked for', async () => {
    const recording = await record({ profile: 'heap', 'profile-output': 'profile.pprof' });
    await recording[Symbol.asyncDispose]();
    expect(existsSync(path.join(folder, 'profile.pprof'))).toBe(true);
  });

  it.each(['goroutine', 'threadcreate', 'block', 'mutex'] as const)(
    '%s is none of this runtime: that is said, and none is written',
    async (profile) => {
      const recording = await record({ profile });
      await recording[Symbol.asyncDispose]();
      expect(log).toContain('this runtime has no profile of this kind');
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it('is not recorded if no folder is safe and its name is not absolute', async () => {
    const recording = await recordIn(undefined, { profile: 'heap' });
    await recording[Symbol.asyncDispose]();
    expect(log).toContain('there is no safe folder for it');
    expect(existsSync('wins.heapprofile')).toBe(false);
    const file = path.join(folder, 'named.heapprofile');
    const named = await recordIn(undefined, { profile: 'heap', 'profile-output': file });
    await named[Symbol.asyncDispose]();
    expect(existsSync(file)).toBe(true);
  });

  it('that cannot be written is a line of the log', async () => {
    const recording = await record({ profile: 'cpu', 'profile-output': 'missing/p.cpuprofile' });
    await recording[Symbol.asyncDispose]();
    expect(log).toContain('cannot write the profile');
  });
});

import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { configFingerprint, watchConfig } from './config-watch.js';
import { loadConfig, type LoadedConfig } from '../load/load-config.js';

describe('a config file that is watched', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-watch-'));
  const file = path.join(folder, 'config');
  const events = new EventEmitter();
  const listeners = {
    changed: (loaded: LoadedConfig) => events.emit('changed', loaded),
    rejected: (reason: unknown) => events.emit('rejected', reason),
  };
  const load = () => loadConfig(file, { mustExist: true });
  // The test triggers each check; everything else runs in real time.
  const look = () => jest.advanceTimersByTime(1000);

  beforeEach(() =>
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }),
  );
  afterEach(() => {
    jest.useRealTimers();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is told to be changed, and wrong, and gone, and back', async () => {
    writeFileSync(file, 'debug: false\n', { mode: 0o600 });
    using _watch = watchConfig(file, configFingerprint(file), listeners, load);
    let told = once(events, 'changed');
    writeFileSync(file, 'debug: true\n');
    look();
    look();
    expect(((await told) as [LoadedConfig])[0].config.debug).toBe(true);

    told = once(events, 'rejected');
    writeFileSync(file, 'debug: maybe\n');
    look();
    look();
    expect(((await told) as [Error])[0].message).toContain('maybe');

    told = once(events, 'rejected');
    rmSync(file);
    look();
    expect(((await told) as [Error])[0].message).toContain('is gone');

    told = once(events, 'changed');
    writeFileSync(file, 'debug: false\n', { mode: 0o600 });
    look();
    look();
    expect(((await told) as [LoadedConfig])[0].config.debug).toBe(false);
  });

  it('may be absent again, as at the start, after a wrong one was there', async () => {
    rmSync(file, { force: true });
    using watch = watchConfig(file, configFingerprint(file), listeners, () => loadConfig(file));
    let told = once(events, 'rejected');
    writeFileSync(file, 'debug: maybe\n', { mode: 0o600 });
    look();
    look();
    expect(((await told) as [Error])[0].message).toContain('maybe');

    told = once(events, 'rejected');
    rmSync(file);
    look();
    expect(((await told) as [Error])[0].message).toContain('is gone');
    expect((await watch.reload()).loaded.found).toBe(false);
  });

  describe('at the moment when it is loaded', () => {
    const first = path.join(folder, 'first');
    const other = path.join(folder, 'other');
    const link = (target: string) => {
      rmSync(file, { force: true });
      symlinkSync(target, file);
    };
    let told: unknown[];
    let stale: Disposable;

    const note = (what: LoadedConfig | Error) =>
      told.push('config' in what ? what.config.debug : what.message);
    /** Resolves after the watch has loaded the file. Three loads in sequence take long enough, because the watch began its load earlier. */
    const untilLoaded = async (): Promise<void> => {
      for (let loads = 0; loads < 3; loads += 1)
        await Promise.allSettled([Promise.resolve().then(load)]);
    };

    beforeEach(() => {
      told = [];
      writeFileSync(first, 'debug: true\n', { mode: 0o600 });
      writeFileSync(other, 'debug: false\n', { mode: 0o600 });
      link(other);
      stale = watchConfig(file, configFingerprint(file), listeners, load);
      events.on('changed', note).on('rejected', note);
      link(first);
      look();
      look();
    });
    afterEach(() => {
      stale[Symbol.dispose]();
      events.off('changed', note).off('rejected', note);
    });

    it.each([
      ['it has gone', () => rmSync(file)],
      ['it is a half that is valid', () => writeFileSync(first, '')],
      ['it is a half that is wrong', () => writeFileSync(first, 'debug: tr')],
    ])('%s: nothing is told of that, but what rests then', async (_what, spoil) => {
      spoil();
      await untilLoaded();
      writeFileSync(first, 'debug: true # and whole\n');
      link(first);
      look();
      look();
      await once(events, 'changed');
      expect(told).toEqual([true]);
    });

    it('is told when it was another one for that moment only', async () => {
      link(other);
      await untilLoaded();
      link(first);
      look();
      await once(events, 'changed');
      expect(told).toEqual([true]);
    });
  });
});

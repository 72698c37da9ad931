import type { LoadedConfig } from '@wins/config';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { watchConfig } from './config-watch.js';

const HANGS_AFTER_MS = 60_000;

describe('a config file that is watched', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-watch-'));
  const file = path.join(folder, 'config');
  const events = new EventEmitter();
  let watch: Disposable;
  // The watch does not keep a process alive by itself, as a daemon's pipe does.
  const alive = setInterval(() => undefined, 1000);

  beforeAll(() => {
    writeFileSync(file, 'debug: false\n', { mode: 0o600 });
    watch = watchConfig(file, {
      changed: (loaded) => events.emit('changed', loaded),
      rejected: (reason) => events.emit('rejected', reason),
    });
  });
  afterAll(() => {
    watch[Symbol.dispose]();
    clearInterval(alive);
    rmSync(folder, { recursive: true });
  });

  it(
    'is told to be changed, and wrong, and gone, and back',
    async () => {
      let told = once(events, 'changed');
      writeFileSync(file, 'debug: true\n');
      expect(((await told) as [LoadedConfig])[0].config.debug).toBe(true);

      told = once(events, 'rejected');
      writeFileSync(file, 'debug: maybe\n');
      expect(((await told) as [Error])[0].message).toContain('maybe');

      told = once(events, 'rejected');
      rmSync(file);
      expect(((await told) as [Error])[0].message).toContain('has gone');

      told = once(events, 'changed');
      writeFileSync(file, 'debug: false\n', { mode: 0o600 });
      expect(((await told) as [LoadedConfig])[0].config.debug).toBe(false);
    },
    HANGS_AFTER_MS,
  );
});

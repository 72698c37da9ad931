import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RunFolders } from '@wins/process-manager';
import { posixProcessHost } from '../../posix.js';
import { endDetachedRuns } from './end-detached-runs.js';

describe('the end of all runs that last', () => {
  let folder: string;
  let kept: string;
  let config: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'e-'));
    const listen = path.join(folder, 'pipe');
    kept = path.join(`${listen}.state`, 'runs');
    mkdirSync(kept, { recursive: true, mode: 0o700 });
    config = path.join(folder, 'config');
    writeFileSync(config, JSON.stringify({ listen, proxy: `${listen}_proxy` }));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const end = () => endDetachedRuns(config, { reason: 'uninstalled', keepsOutput: false });

  it('removes what is kept, and needs no folder', async () => {
    expect(await end()).toBeUndefined();
    expect(existsSync(kept)).toBe(false);
    expect(await end()).toBeUndefined();
  });

  it.each<[string, () => void]>([
    ['others can write to', () => chmodSync(kept, 0o777)],
    [
      'a link leads to',
      () => {
        renameSync(kept, path.join(folder, 'elsewhere'));
        symlinkSync(path.join(folder, 'elsewhere'), kept);
      },
    ],
  ])('ends and removes nothing that is named in a folder that %s', async (_why, change) => {
    const host = posixProcessHost();
    const victim = await host.start({
      mark: randomBytes(16).toString('hex'),
      lineage: 'l',
      mayBreakAway: false,
      env: {},
      file: '/bin/sleep',
      argv0: 'sleep',
      args: ['1000'],
      directory: '/',
    });
    try {
      const keeper = `${victim.pid}:${victim.startToken}`;
      expect(host.isDaemonAlive(keeper)).toBe(true);
      const record = new RunFolders(path.dirname(kept)).keeper(keeper);
      const socket = path.join(folder, 'none');
      await record.write({ version: 1, keeper, socket, token: 'f'.repeat(64), release: 'r' });
      change();
      expect(await end()).toContain(kept);
      expect(host.isDaemonAlive(keeper)).toBe(true);
      expect(existsSync(kept)).toBe(true);
    } finally {
      await victim.terminate('force');
      victim.close();
    }
  });
});

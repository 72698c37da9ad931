import { failingCallbacks } from '@wins/base/testing';
import { posixFileTrust } from '@wins/trusted-files';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConfigGuard, historyFolder, loadConfig } from '../index.js';

describe('the guard of a config works on when its callback', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-callbacks-'));
  const file = path.join(folder, 'config');
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(
    failingCallbacks({
      onFailure: async (callback) => {
        writeFileSync(file, 'debug: true\n', { mode: 0o600 });
        mkdirSync(path.dirname(historyFolder(file)), { recursive: true });
        // Neither a folder that can be read, nor one that can be written to.
        writeFileSync(historyFolder(file), '');
        const loaded = await loadConfig(file);
        const { guard, lost } = await ConfigGuard.begin(loaded, {
          trust: posixFileTrust(),
          isProven: () => true,
          howToDrop: () => '',
          onFailure: callback,
        });
        guard.served(loaded);
        expect(lost).toEqual([]);
        expect(await guard.admit(loaded, [])).toBe(loaded);
        await guard[Symbol.asyncDispose]();
      },
    }),
  )('%s', (_name, play) => play());
});

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { permittedDrops } from '../history/deliveries.js';
import { ConfigError, loadConfig, permitDrops } from '../index.js';

const folder = mkdtempSync(path.join(tmpdir(), 'wins-config-'));
const file = path.join(folder, 'config');
after(() => rmSync(folder, { recursive: true }));

const isInsecure = (error: unknown): boolean =>
  error instanceof ConfigError &&
  error.code === 'insecure' &&
  error.message.includes('windowsFileTrust()');

describe('a config file on Windows', () => {
  it('is not loaded without a trust: nothing says who can write to it', async () => {
    writeFileSync(file, 'debug: true\n');
    await assert.rejects(loadConfig(file), isInsecure);
    const trust = { distrustOfFile: () => undefined };
    assert.equal((await loadConfig(file, { trust })).config.debug, true);
  });

  it('may drop nothing without a trust, whatever lies beside it', async () => {
    const sha256 = 'a'.repeat(64);
    await permitDrops(file, sha256, ['systemagent']);
    assert.deepEqual(await permittedDrops(file, sha256), []);
    const trust = { distrustOfFile: () => undefined };
    assert.deepEqual(await permittedDrops(file, sha256, trust), ['systemagent']);
  });

  it('that is missing is the defaults all the same', async () => {
    assert.equal((await loadConfig(path.join(folder, 'missing'))).found, false);
  });
});

import { lastGoodFile, lastGoodFolder, loadConfig, type LoadedConfig } from '@wins/config';
import { posixFileTrust } from '@wins/trusted-files';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLoggerTo } from '../kernel/log/logger.js';
import { ConfigKeeper } from './config-keeper.js';

describe('a config that takes effect', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-keeper-'));
  const file = path.join(folder, 'config');
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(() => rmSync(lastGoodFolder(file), { recursive: true, force: true }));

  async function keepAll(isProven: boolean, ...texts: string[]): Promise<string> {
    const lines: string[] = [];
    const logger = createLoggerTo(
      { debug: false, quiet: false },
      { write: (line) => void lines.push(line) },
    );
    await using keeper = new ConfigKeeper({
      trust: posixFileTrust(),
      logger,
      isProven: () => isProven,
    });
    const all: LoadedConfig[] = [];
    for (const text of texts) {
      writeFileSync(file, text, { mode: 0o600 });
      all.push(await loadConfig(file));
    }
    for (const loaded of all) keeper.keep(loaded);
    await keeper[Symbol.asyncDispose]();
    return lines.join('');
  }
  const kept = () => readFileSync(lastGoodFile(file), 'utf8').split('\n').slice(1).join('\n');

  it('is kept, the newest, with the exact bytes', async () => {
    await keepAll(true, 'debug: true\n', '\ufeffdebug: false # mine\r\n');
    expect(kept()).toBe('\ufeffdebug: false # mine\r\n');
  });

  it('is not kept by a daemon on trial, and what was kept stays', async () => {
    await keepAll(false, 'debug: true\n');
    expect(existsSync(lastGoodFile(file))).toBe(false);
    await keepAll(true, 'debug: true\n');
    await keepAll(false, 'debug: false\n');
    expect(kept()).toBe('debug: true\n');
  });

  it('is forgotten when the daemon serves without a file', async () => {
    await keepAll(true, 'debug: true\n');
    rmSync(file);
    await using keeper = new ConfigKeeper({
      trust: posixFileTrust(),
      logger: createLoggerTo({ debug: false, quiet: true }, { write: () => undefined }),
      isProven: () => true,
    });
    keeper.keep(await loadConfig(file));
    await keeper[Symbol.asyncDispose]();
    expect(existsSync(lastGoodFolder(file))).toBe(false);
  });

  it('is not kept where others may look, which is a warning', async () => {
    mkdirSync(lastGoodFolder(file));
    chmodSync(lastGoodFolder(file), 0o755);
    expect(await keepAll(true, 'debug: true\n')).toMatch(
      /"level":"warn".*cannot keep a copy of the config in force/,
    );
    expect(existsSync(lastGoodFile(file))).toBe(false);
  });
});

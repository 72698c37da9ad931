import { posixFileTrust } from '@wins/trusted-files';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  ConfigGuard,
  ConfigHistory,
  historyFolder,
  loadConfig,
  permitDrops,
  type ConfigGuardOptions,
} from '../index.js';

const AGENT = 'systemagent: {}\n';

describe('a config that takes effect', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-guard-'));
  const file = path.join(folder, 'config');
  const history = new ConfigHistory(file, posixFileTrust());
  let failures: string[];
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(() => {
    failures = [];
    for (const name of readdirSync(folder)) rmSync(path.join(folder, name), { recursive: true });
  });

  function write(text: string) {
    writeFileSync(file, text, { mode: 0o600 });
    return loadConfig(file);
  }

  async function begin(text: string | undefined, more: Partial<ConfigGuardOptions> = {}) {
    const loaded = text === undefined ? await loadConfig(file) : await write(text);
    const { guard, lost } = await ConfigGuard.begin(loaded, {
      trust: posixFileTrust(),
      isProven: () => true,
      howToDrop: (_file, keys) => `allow ${keys.join()}`,
      onFailure: (problem) => failures.push(problem),
      ...more,
    });
    guard.served(loaded);
    return { guard, lost };
  }

  async function serve(...texts: readonly string[]): Promise<void> {
    const [first = '', ...others] = texts;
    const { guard } = await begin(first);
    for (const text of others) guard.served(await write(text));
    await guard[Symbol.asyncDispose]();
  }

  const lastServed = async () => (await history.newest('served'))?.bytes?.toString();

  it('is kept, the newest, with the exact bytes', async () => {
    await serve('debug: true\n', '\ufeffdebug: false # mine\r\n');
    expect(await lastServed()).toBe('\ufeffdebug: false # mine\r\n');
    expect(failures).toEqual([]);
  });

  it('is not kept by a daemon on trial, and the earlier one stays', async () => {
    await serve('debug: true\n');
    const { guard } = await begin('debug: false\n', { isProven: () => false });
    await guard[Symbol.asyncDispose]();
    expect(await lastServed()).toBe('debug: true\n');
  });

  it('makes no history where there is no config file, and is recorded as absent where there was one', async () => {
    await (await begin(undefined)).guard[Symbol.asyncDispose]();
    expect(readdirSync(folder)).toEqual([]);
    await serve(AGENT);
    rmSync(file);
    const { guard, lost } = await begin(undefined);
    await guard[Symbol.asyncDispose]();
    expect(lost).toEqual(['systemagent']);
    expect(await history.newest('served')).toMatchObject({
      bytes: undefined,
      lost: { keys: lost },
    });
    expect(await history.loadServed()).toMatchObject({ found: false });
  });

  it('is not kept where others may look, which is told, and the daemon serves on', async () => {
    mkdirSync(historyFolder(file), { mode: 0o755 });
    chmodSync(historyFolder(file), 0o755);
    await serve('debug: true\n');
    expect(failures).toEqual([expect.stringContaining('cannot keep a copy of the config')]);
    expect(readdirSync(historyFolder(file))).toEqual([]);
  });

  it('tells which keys a start has lost, until they are accepted or back', async () => {
    await serve(AGENT);
    const { guard, lost } = await begin('debug: true\n');
    expect(lost).toEqual(['systemagent']);
    await guard[Symbol.asyncDispose]();
    const since = (await history.newest('served'))?.lost.since;
    expect(since).toMatch(/^\d{4}-/);
    // The next start loses nothing more, but still knows.
    const again = await begin('debug: false\n');
    expect(again.lost).toEqual([]);
    await again.guard[Symbol.asyncDispose]();
    expect((await history.newest('served'))?.lost).toEqual({ keys: ['systemagent'], since });
    const last = await begin('debug: false\n');
    last.guard.accept(['systemagent']);
    await last.guard[Symbol.asyncDispose]();
    expect((await history.newest('served'))?.lost.keys).toEqual([]);
  });

  it('is refused without a key in force, unless that is allowed by name or by a permission for this content', async () => {
    const { guard } = await begin(AGENT);
    const next = await write('debug: true\n');
    await expect(guard.admit(next, [])).rejects.toMatchObject({
      problems: expect.arrayContaining([
        expect.objectContaining({ code: 'dropped', keyPath: 'systemagent' }),
      ]) as unknown,
    });
    expect(await guard.admit(next, ['systemagent'])).toMatchObject({ sha256: next.sha256 });
    await permitDrops(file, 'f'.repeat(64), ['systemagent']);
    await expect(guard.admit(next, [])).rejects.toMatchObject({ code: 'invalid' });
    await permitDrops(file, next.sha256 ?? '', ['systemagent']);
    expect(await guard.admit(next, [])).toMatchObject({ sha256: next.sha256 });
    await guard[Symbol.asyncDispose]();
  });

  it('uses its permission up when it is stored, and none that a later delivery has written', async () => {
    const delivered = `${file}.delivered`;
    const { guard } = await begin(AGENT);
    const next = await write('debug: true\n');
    await permitDrops(file, 'f'.repeat(64), ['systemagent']);
    guard.served(next);
    await guard[Symbol.asyncDispose]();
    expect(readdirSync(delivered)).toEqual(['permission.json']);
    await permitDrops(file, next.sha256 ?? '', ['systemagent']);
    guard.served(next);
    await guard[Symbol.asyncDispose]();
    expect(existsSync(delivered)).toBe(false);
  });

  it('is kept although a leftover of deliveries cannot be removed, and only that is told', async () => {
    // A folder has the name of a replaced config.
    mkdirSync(path.join(`${file}.delivered`, '1-2'), { recursive: true });
    await serve('debug: true\n');
    expect(await lastServed()).toBe('debug: true\n');
    expect(failures).toEqual([expect.stringContaining('cannot remove what deliveries')]);
  });

  it('is compared with nothing when the history is damaged, which is told', async () => {
    await serve(AGENT);
    const entry = (await history.newest('served'))?.path ?? '';
    writeFileSync(entry, 'debug: true\n');
    const { guard, lost } = await begin('debug: true\n');
    await guard[Symbol.asyncDispose]();
    expect(lost).toEqual([]);
    expect(failures).toEqual([expect.stringContaining('cannot read which config was served last')]);
    expect(await lastServed()).toBe('debug: true\n');
  });
});

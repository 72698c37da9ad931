import { posixFileTrust } from '@wins/trusted-files';
import fc from 'fast-check';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConfigHistory, loadConfig, type EntryKind } from '../index.js';

const KEPT: Readonly<Record<EntryKind, number>> = { served: 5, before: 1, aside: 3 };
const KINDS = Object.keys(KEPT) as EntryKind[];

describe('the history of a config file', () => {
  let folder: string;
  let history: ConfigHistory;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-history-'));
    history = new ConfigHistory(path.join(folder, 'config'), posixFileTrust());
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is empty at first', async () => {
    expect(await history.newest('served')).toBeUndefined();
    expect(await history.loadServed()).toBeUndefined();
  });

  it('has the exact bytes below a comment line, for this user alone', async () => {
    const bytes = Buffer.from('\ufeffdebug: true # mine\r\n');
    const file = await history.add('served', bytes);
    expect(file).toBe(path.join(folder, 'config.history', 'served.000001.yaml'));
    const content = readFileSync(file);
    expect(content.toString()).toMatch(/^# wins: \{"sha256":"[0-9a-f]{64}"\}\n/);
    expect(content.subarray(content.indexOf('\n') + 1)).toEqual(bytes);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(await history.loadServed()).toMatchObject({ path: file, config: { debug: true } });
  });

  it('has the values of a known config with the same bytes, without parsing them again', async () => {
    const file = path.join(folder, 'config');
    writeFileSync(file, 'debug: true\n', { mode: 0o600 });
    const known = await loadConfig(file);
    const entry = await history.add('served', Buffer.from('debug: true\n'));
    const served = await history.loadServed({ known });
    expect(served).toMatchObject({ path: entry, found: true, sha256: known.sha256 });
    expect(served?.config).toBe(known.config);
    await history.add('served', Buffer.from('debug: false\n'));
    expect((await history.loadServed({ known }))?.config.debug).toBe(false);
  });

  it('refuses an entry that was changed, cut, or that others may write, and its folder too', async () => {
    const file = await history.add('served', Buffer.from('debug: true\n'));
    const good = readFileSync(file);
    const refused = () => history.newest('served').catch((error: unknown) => error);
    writeFileSync(file, good.subarray(0, good.length - 3));
    expect(await refused()).toMatchObject({
      code: 'damaged',
      message: expect.stringContaining('that was changed') as string,
    });
    writeFileSync(file, good.subarray(0, 20));
    expect(await refused()).toMatchObject({
      code: 'damaged',
      message: expect.stringContaining('no digest') as string,
    });
    writeFileSync(file, good);
    chmodSync(file, 0o666);
    expect(await refused()).toMatchObject({
      code: 'insecure',
      message: expect.stringContaining('others can write') as string,
    });
    chmodSync(file, 0o600);
    chmodSync(path.dirname(file), 0o777);
    expect(await refused()).toMatchObject({
      code: 'insecure',
      message: expect.stringContaining('others can write') as string,
    });
    chmodSync(path.dirname(file), 0o700);
    expect(await refused()).toMatchObject({ path: file });
  });

  it('keeps its entries when it cannot be written', async () => {
    await history.add('served', Buffer.from('debug: true\n'));
    chmodSync(history.folder, 0o755);
    await expect(history.add('served', Buffer.from('debug: false\n'))).rejects.toMatchObject({
      code: 'insecure',
    });
    expect((await history.newest('served'))?.bytes?.toString()).toBe('debug: true\n');
  });

  it('gives the newest of each kind, and keeps few, wherever a program died between two writes', async () => {
    const remains = fc.constantFrom(undefined, 'temporary', 'unpruned', 'damaged');
    const step = fc.record({
      kind: fc.constantFrom(...KINDS),
      text: fc.constantFrom('a: 1\n', 'b: 2\n', 'c: 3\n', undefined),
      remains,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        rmSync(history.folder, { recursive: true, force: true });
        mkdirSync(history.folder, { mode: 0o700 });
        const newest = new Map<EntryKind, string | undefined>();
        for (const { kind, text, remains: left } of steps) {
          const file = await history.add(kind, text === undefined ? undefined : Buffer.from(text));
          newest.set(kind, text);
          const entries = readdirSync(history.folder).filter((name) => name.startsWith(kind));
          expect(entries.length).toBeLessThanOrEqual(KEPT[kind] + 1);
          // A write is one rename, so these are all states in which a death leaves the folder.
          if (left === 'temporary') writeFileSync(path.join(history.folder, '.served.tmp'), 'a: 9');
          const older = Number(/\d+/.exec(path.basename(file))?.[0]) - KEPT[kind];
          const name = `${kind}.${String(older).padStart(6, '0')}.yaml`;
          if (left === 'unpruned' && older > 0) writeFileSync(path.join(history.folder, name), 'x');
          if (left !== 'damaged') continue;
          writeFileSync(file, 'x');
          await expect(history.newest(kind)).rejects.toMatchObject({ code: 'damaged' });
          await history.add(kind, Buffer.from('d: 4\n'));
          newest.set(kind, 'd: 4\n');
        }
        for (const kind of KINDS) {
          const entry = await history.newest(kind);
          expect(entry && [entry.bytes?.toString()]).toEqual(
            newest.has(kind) ? [newest.get(kind)] : undefined,
          );
        }
      }),
      { numRuns: 50 },
    );
  });
});

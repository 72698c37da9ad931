import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixFileTrust } from '@wins/trusted-files';
import { ConfigHistory, forgetDeliveries, keepReplaced, readReplaced } from '../index.js';

describe('configs that are replaced', () => {
  let folder: string;
  let file: string;
  let kept: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-replaced-')));
    file = path.join(folder, 'config');
    kept = `${file}.delivered`;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Writes the config with a modification time in seconds since 1970. */
  function put(content: string, fromS: number): void {
    writeFileSync(file, content);
    utimesSync(file, fromS, fromS);
  }

  async function inForceAt(atS: number): Promise<string | undefined> {
    const bytes = await readReplaced(file, atS * 1000, posixFileTrust());
    return bytes && Buffer.from(bytes).toString();
  }

  it('are found by the moment at which they were in place, and by no other', async () => {
    put('a: 1', 1000);
    await keepReplaced(file);
    expect(await inForceAt(998)).toBeUndefined();
    // The content is in place from second 1000 on. It is also found for a time half a second earlier, because process starts
    // and file changes have different clocks.
    expect(await inForceAt(999.5)).toBe('a: 1');
    expect(await inForceAt(1000)).toBe('a: 1');
    const later = Date.now() / 1000 + 1;
    expect(await inForceAt(later)).toBeUndefined();
    put('b: 2', later);
    expect(await inForceAt(2000)).toBe('a: 1');
    expect(await inForceAt(later)).toBeUndefined();
  });

  it('are those of one user, and no more than four: the oldest goes', async () => {
    for (const second of [1, 2, 3, 4, 5]) {
      put(`at: ${second}`, second);
      await keepReplaced(file);
    }
    const names = readdirSync(kept);
    expect(names.map((name) => name.split('-')[0]).sort()).toEqual([
      '2000',
      '3000',
      '4000',
      '5000',
    ]);
    expect(await inForceAt(0.5)).toBeUndefined();
    const modes = [kept, ...names.map((name) => path.join(kept, name))].map(
      (entry) => statSync(entry).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o600, 0o600, 0o600, 0o600]);
  });

  it('are kept once when the replacement did not come to its end', async () => {
    put('a: 1', 1000);
    await keepReplaced(file);
    await keepReplaced(file);
    expect(readdirSync(kept)).toHaveLength(1);
    expect(await inForceAt(1000)).toBe('a: 1');
  });

  it('are not kept where there is none, one too large for a config, or a daemon that keeps its own', async () => {
    await keepReplaced(file);
    writeFileSync(file, Buffer.alloc(1024 * 1024 + 1, '#'));
    await keepReplaced(file);
    expect(readdirSync(folder)).toEqual(['config']);
    put('a: 1', 1000);
    await new ConfigHistory(file, posixFileTrust()).add('served', Buffer.from('a: 1'));
    await keepReplaced(file);
    expect(readdirSync(folder)).toEqual(['config', 'config.history']);
  });

  it('are refused when others could have written them', async () => {
    put('a: 1', 1000);
    await keepReplaced(file);
    chmodSync(path.join(kept, readdirSync(kept)[0] ?? ''), 0o666);
    await expect(inForceAt(1000)).rejects.toMatchObject({ code: 'insecure' });
  });

  it('are gone once they are forgotten, also when there were none', async () => {
    put('a: 1', 1000);
    await keepReplaced(file);
    await forgetDeliveries(file);
    await forgetDeliveries(file);
    expect(readdirSync(folder)).toEqual(['config']);
  });
});

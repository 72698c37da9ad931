import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readFolder } from './read-folder.js';

it('reads a folder in the order of names, up to a number of entries', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'read-folder-'));
  try {
    for (const name of ['c', 'a', 'b']) writeFileSync(path.join(folder, name), '');
    const all = await readFolder(folder, 3);
    expect(all.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(await readFolder(folder, 2)).toHaveLength(2);
    await expect(readFolder(path.join(folder, 'none'), 1)).rejects.toMatchObject({
      code: 'ENOENT',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

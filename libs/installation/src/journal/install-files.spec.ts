import { buildSync } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { readableJson } from './install-files.js';

describe('what a file of the installation begins with', () => {
  const schema = z.object({ values: z.array(z.string()).max(1000) });

  it.each([
    ['is too large', 300, 'wanted at most 8388608 in all'],
    ['has too many values', 1001, 'wanted at most 1000 items'],
  ])('names the limit that it is beyond: it %s', (_what, count, wanted) => {
    const value = 'x'.repeat(count === 300 ? 32_000 : 1);
    const values = Array.from({ length: count }, () => value);
    expect(() => readableJson(schema, { values }, 'write it down')).toThrow(wanted);
  });
});

/** Writes lines until the disk is full. Prints how many were said to be written, how many are there, and the error. */
const FULL_DISK = `
  import { posixFileTrust } from '@wins/trusted-files';
  import { InstallFiles } from './install-files.ts';
  const fill = async (stateFolder) => {
    const files = new InstallFiles({ host: { trust: posixFileTrust() }, paths: { stateFolder } });
    await files.beginJournal([{ item: { kind: 'eventSource', name: 'a name' } }], false);
    let [written, error] = [0, undefined];
    while (error === undefined && written < 100) {
      error = await files.addToJournal({ begin: 0 }).catch((each) => each);
      written += Number(error === undefined);
    }
    const { lines } = await files.readJournal();
    console.log(JSON.stringify([written === lines.length, error?.code]));
  };
  void fill(process.argv[2]);
`;

it('a journal has each line that is said to be written, also on a full disk', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-journal-'));
  try {
    const bundle = path.join(folder, 'full-disk.cjs');
    const stdin = { contents: FULL_DISK, resolveDir: __dirname };
    const conditions = ['@wins/source'];
    buildSync({ stdin, bundle: true, platform: 'node', conditions, outfile: bundle });
    // The shell's limit on file sizes acts as a full disk.
    const script = `trap '' XFSZ; ulimit -f 1; exec "$0" "$@"`;
    const said = execFileSync('/bin/sh', ['-c', script, process.execPath, bundle, folder]);
    expect(JSON.parse(String(said))).toEqual([true, 'EFBIG']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

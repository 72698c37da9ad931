import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

describe('the example', () => {
  it('of the README serves a call, in a process of its own', async () => {
    const readme = await readFile(join(__dirname, '..', 'README.md'), 'utf8');
    const directory = await mkdtemp(join(tmpdir(), 'wins-readme-'));
    try {
      const outfile = join(directory, 'example.mjs');
      await build({
        stdin: { contents: /```ts\n([^]*?)```/.exec(readme)?.[1] ?? '', loader: 'ts' },
        alias: { '@wins/http2-connection': join(__dirname, 'index.ts') },
        outfile,
        bundle: true,
        format: 'esm',
        platform: 'node',
      });
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [outfile]);
      expect([stdout, stderr]).toEqual(['/x.Y/Z\nclientGone\n', '']);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

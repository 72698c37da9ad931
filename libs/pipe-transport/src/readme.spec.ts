import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

describe('the example', () => {
  test('of the README prints what it says, in a process of its own', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'wins-readme-'));
    try {
      const outfile = join(directory, 'example.mjs');
      await build({
        stdin: { contents: await example(), loader: 'ts' },
        alias: { '@wins/pipe-transport': join(__dirname, 'index.ts') },
        outfile,
        bundle: true,
        // From sources, so that nothing has to be built.
        platform: 'node',
        format: 'esm',
        conditions: ['@wins/source'],
      });
      const env = { WINS_RUNTIME_DIR: join(directory, 'run') };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [outfile], { env });
      expect([stdout, stderr]).toEqual(['hello\n', '']);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test('of the module comment is the same', async () => {
    const source = await readFile(join(__dirname, 'index.ts'), 'utf8');
    const comment = source.replace(/^ \* ?/gm, '');
    const [, code] = (await example()).split("pipe-transport';\n\n");
    expect(comment).toContain(code);
  });
});

async function example(): Promise<string> {
  const text = await readFile(join(__dirname, '..', 'README.md'), 'utf8');
  return /```ts\n([^]*?)```/.exec(text)?.[1] ?? '';
}

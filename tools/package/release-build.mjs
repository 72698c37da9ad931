// A release build uses no cache: it bundles again, and downloads pinned files again with an npm whose cache is empty. node_modules come from `npm
// ci`, which checks the digests in the lock.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * Prepares a build without caches. Must precede the import of modules that read `WINS_PINNED_FILES`.
 *
 * @returns Object whose `close` removes the downloaded files.
 */
export function prepareRelease() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain');
  if (changed !== '')
    throw new Error(
      `cannot build a release, because these files differ from the commit:\n${changed}`,
    );
  const fresh = mkdtempSync(path.join(tmpdir(), 'wins-release-'));
  process.env.WINS_PINNED_FILES = path.join(fresh, 'pinned');
  process.env.npm_config_cache = path.join(fresh, 'npm');
  rmSync(path.join(root, 'dist'), { recursive: true, force: true });
  return {
    commit: git('rev-parse', 'HEAD'),
    bundle: (applications) => {
      const bundle = path.join(root, 'tools/bundle.mjs');
      for (const folder of applications)
        execFileSync(process.execPath, [bundle, folder], { cwd: root, stdio: 'inherit' });
    },
    close: () => rmSync(fresh, { recursive: true, force: true }),
  };
}

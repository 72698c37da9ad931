// What a release is made of is made or fetched while it is built, and nothing is taken from a cache: bundles are made anew,
// pinned files fetched anew, by an npm whose own cache is empty. node_modules are those of `npm ci`, whose digests the lock has.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * Prepares a release build; call it before anything else of the package is loaded.
 *
 * @returns What removes the files that were fetched for it.
 */
export function prepareRelease() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain');
  if (changed !== '')
    throw new Error(`a release is made of a commit; these files are not as in it:\n${changed}`);
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

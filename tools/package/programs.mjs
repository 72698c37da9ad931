// Lists the bundles that go into an executable, as the applications declare them.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');

export const applications = readdirSync(path.join(root, 'apps'))
  .map((name) => path.join('apps', name))
  .filter((folder) => manifestOf(folder)?.bundles !== undefined)
  .sort();

/** `wins.cjs` is the first program; it requires the others. */
export const programs = applications
  .flatMap((folder) => Object.keys(manifestOf(folder).bundles))
  .sort()
  .map((name) => path.join(root, 'dist', `${name}.cjs`));

/** Creates a bundle of each program for one platform, and leaves out the code for other platforms. Returns the paths of the bundles. */
export function bundleFor(platform, out) {
  const bundle = path.join(root, 'tools/bundle.mjs');
  for (const folder of applications)
    execFileSync(process.execPath, [bundle, folder, '--platform', platform, '--out', out], {
      cwd: root,
      stdio: 'inherit',
    });
  return programs.map((file) => path.join(out, path.basename(file)));
}

export const { version } = manifestOf('apps/wins');

export function manifestOf(folder) {
  const file = path.join(root, folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

// The bundles that go into an executable: those that applications declare.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');

/** Applications with bundles, as folders below the root. */
export const applications = readdirSync(path.join(root, 'apps'))
  .map((name) => path.join('apps', name))
  .filter((folder) => manifestOf(folder)?.bundles !== undefined)
  .sort();

/** The bundles' files. `wins.cjs` is the one that is started; it requires the others. */
export const programs = applications
  .flatMap((folder) => Object.keys(manifestOf(folder).bundles))
  .sort()
  .map((name) => path.join(root, 'dist', `${name}.cjs`));

export const { version } = manifestOf('apps/wins');

function manifestOf(folder) {
  const file = path.join(root, folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../workspace.js';

/** Prerequisites that `npm run test:all` has made just now. */
const made = process.env['WINS_TEST_MADE']?.split(' ') ?? [];
const found = new Map<string, string>();

/**
 * Folder of the package, built before the end-to-end tests.
 *
 * @throws Error when the package does not match the programs in dist/; `node tools/prepare.mjs package` rebuilds it.
 */
export function packageFolder(): string {
  return folderOf('package');
}

/**
 * Returns the path of a file, such as `wins.cjs`, that is built with a stand-in for a service manager.
 *
 * @throws Error when the stand-ins do not match the programs in dist/; `node tools/prepare.mjs stand-ins` rebuilds them.
 */
export function standIn(name: string): string {
  return path.join(folderOf('stand-ins'), name);
}

/**
 * Returns the path of the executable of all programs, built with a stand-in for a service manager.
 *
 * @throws Error when it does not match the programs in dist/; `node tools/prepare.mjs stand-in-executable` rebuilds it.
 */
export function standInExecutable(): string {
  return path.join(folderOf('stand-in-executable'), 'wins');
}

/**
 * Folder of the archive of all libraries, built before the long tests.
 *
 * @throws Error when the archive does not match the programs in dist/; `node tools/prepare.mjs examples` rebuilds it.
 */
export function librariesFolder(): string {
  return folderOf('examples');
}

function folderOf(need: string): string {
  const folder = found.get(need) ?? path.join(ROOT, 'dist', need);
  if (!found.has(need) && !made.includes(need)) {
    const args = ['tools/prepare.mjs', '--check', need];
    execFileSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
    found.set(need, folder);
  }
  return folder;
}

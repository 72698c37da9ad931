import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../workspace.js';

/**
 * Where the package is, which is made once before the end-to-end tests.
 *
 * @throws Error when it is not made of the programs in dist/: `node tools/prepare.mjs package` makes it.
 */
export function packageFolder(): string {
  const stdio = ['ignore', 'ignore', 'pipe'] as const;
  const args = ['tools/prepare.mjs', '--check', 'package'];
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: [...stdio] });
  return path.join(ROOT, 'dist', 'package');
}

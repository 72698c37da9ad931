import { execFileSync } from 'node:child_process';
import path from 'node:path';

/** Like {@link execFileSync} for npm. On Windows, `npm` is a script, so this runs npm's JavaScript with Node. */
export function runNpm(args, options) {
  if (process.platform !== 'win32') return execFileSync('npm', args, options);
  const npm = path.join(path.dirname(process.execPath), 'node_modules/npm/bin/npm-cli.js');
  return execFileSync(process.execPath, [npm, ...args], options);
}

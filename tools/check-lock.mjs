// Checks the lock file: it must record the optional packages of every platform, because `npm ci` refuses the lock on all platforms if one is missing.
// No file of the repository may name the host of a package registry: a package and its version identify the archive, wherever it is fetched.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const file = path.resolve(import.meta.dirname, '..', 'package-lock.json');
const { packages } = JSON.parse(readFileSync(file, 'utf8'));
const names = new Set(Object.keys(packages).map((key) => key.split('node_modules/').pop()));

const problems = [];
for (const [key, entry] of Object.entries(packages)) {
  if (entry.resolved && !entry.link) problems.push(`${key}: records a download address`);
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {}))
    if (!names.has(name))
      problems.push(`${key}: optional ${name}@${range} is not in the lock file`);
}
for (const problem of problems) console.error(`package-lock.json: ${problem}`);

// The brackets keep this file from matching itself.
const HOSTS = '[r]egistry\\.(npmjs|yarnpkg|npmmirror)\\.|[n]pm\\.pkg\\.github\\.com';
const { status, stdout, stderr } = spawnSync('git', ['grep', '-nIE', HOSTS], {
  cwd: path.dirname(file),
  encoding: 'utf8',
});
// git grep exits with 1 when nothing matches.
if (status !== 1) problems.push(stderr || stdout);
if (status !== 1) console.error(`names the host of a package registry:\n${stderr || stdout}`);
process.exit(problems.length === 0 ? 0 : 1);

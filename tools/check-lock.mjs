// Checks the lock file: it must name no download host. It must record the optional packages of every platform: if one is missing, `npm ci` refuses
// the lock on all platforms.
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
process.exit(problems.length === 0 ? 0 : 1);

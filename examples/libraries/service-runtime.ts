import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openRotatingLog } from '@wins/service-runtime';

const folder = await mkdtemp(path.join(tmpdir(), 'example-'));
const log = openRotatingLog({ folder, name: 'service', maxFileBytes: 64 * 1024, maxFiles: 5 });
for (let line = 1; line <= 5000; line += 1) log.write(`line ${line}, and what it says\n`);
await log.close();

console.log((await readdir(folder)).sort().join(', '));

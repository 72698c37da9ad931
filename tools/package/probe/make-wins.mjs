// node make-wins.mjs OUT: the executable for Linux alone, as npm run package makes it.
import path from 'node:path';
import { makeLinuxExecutable } from '../linux-executable.mjs';
import { programs } from '../programs.mjs';

await makeLinuxExecutable(programs, path.resolve(process.argv[2]));

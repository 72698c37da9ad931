// node stand-in-executable.mjs IN OUT: packs the programs in the folder IN into the executable OUT for Linux.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { makeLinuxExecutable } from './linux-executable.mjs';
import { programs } from './programs.mjs';

const [from, out] = process.argv.slice(2).map((argument) => path.resolve(argument));
mkdirSync(path.dirname(out), { recursive: true });
await makeLinuxExecutable(
  programs.map((file) => path.join(from, path.basename(file))),
  out,
);

// Builds what executables.windows-spec.ts runs: the executables, and a program that tells what it sees inside of one.
import { execFileSync } from 'node:child_process';
import path from 'node:path';

const cwd = path.resolve(import.meta.dirname, '../../../..');
const run = (...command) =>
  execFileSync(command[0], command.slice(1), { cwd, stdio: ['ignore', 'ignore', 'inherit'] });

run('npm', 'run', '--silent', 'package');
run(process.execPath, 'tools/package/probe/make-probe.mjs', 'dist/package-probe.exe');

// Builds what executables.windows-spec.ts runs: the executables, and a program that tells what it sees inside of one.
import { execFileSync } from 'node:child_process';
import path from 'node:path';

// Computed, since a tool is no part of a project.
const { runNpm } = await import(new URL('../../../../tools/windows/npm.mjs', import.meta.url));
const cwd = path.resolve(import.meta.dirname, '../../../..');
const stdio = ['ignore', 'ignore', 'inherit'];
const run = (...command) => execFileSync(command[0], command.slice(1), { cwd, stdio });

runNpm(['run', '--silent', 'package'], { cwd, stdio });
run(process.execPath, 'tools/package/probe/make-probe.mjs', 'dist/package-probe.exe');

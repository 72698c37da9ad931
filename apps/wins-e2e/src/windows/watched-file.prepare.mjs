// Builds what watched-file.windows-spec.ts offers to a daemon: executables of three releases, one of them no good.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';

// Computed, since a tool is no part of a project.
const { runNpm } = await import(new URL('../../../../tools/windows/npm.mjs', import.meta.url));
const cwd = path.resolve(import.meta.dirname, '../../../..');
const stdio = ['ignore', 'ignore', 'inherit'];
const run = (...command) => execFileSync(command[0], command.slice(1), { cwd, stdio });
const make = (name, ...release) =>
  run(
    process.execPath,
    'tools/package/probe/make-release.mjs',
    `dist/watched-file/${name}.exe`,
    ...release,
  );

runNpm(['run', '--silent', 'build'], { cwd, stdio });
rmSync(path.join(cwd, 'dist/watched-file'), { recursive: true, force: true });
mkdirSync(path.join(cwd, 'dist/watched-file'));
for (const version of ['v1.0.0', 'v1.1.0', 'v1.2.0']) make(version, version);
make('crashes', 'v1.9.0', 'crashes');

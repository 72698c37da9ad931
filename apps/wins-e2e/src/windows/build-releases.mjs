// Builds what the specs of upgrades upgrade between: executables of several releases, most of them no good. What they are made of decides
// whether they are built anew.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const RELEASES = [
  ['v1.0.0', 'v1.0.0'],
  ['v1.1.0', 'v1.1.0'],
  ['v1.2.0', 'v1.2.0'],
  ['crashes', 'v1.9.0', 'crashes'],
  ['lies', 'v1.9.0', 'lies'],
  ['hangs', 'v1.9.0', 'hangs'],
  ['idles', 'v1.9.0', 'idles'],
  ['deaf', 'v1.0.1', 'turns deaf'],
  ['paused', 'v1.0.1', 'pauses'],
];

// Computed, since a tool is no part of a project.
const { runNpm } = await import(new URL('../../../../tools/windows/npm.mjs', import.meta.url));
const root = path.resolve(import.meta.dirname, '../../../..');
const out = path.join(root, 'dist/upgrade');
const stdio = ['ignore', 'ignore', 'inherit'];
const run = (...command) => execFileSync(command[0], command.slice(1), { cwd: root, stdio });

runNpm(['run', '--silent', 'build'], { cwd: root, stdio });
const stamp = path.join(out, 'made-of');
const madeOf = digestOf([
  import.meta.filename,
  path.join(root, 'tools/windows/packages.json'),
  ...filesIn('tools/package'),
  ...filesIn('dist', /^wins[a-z-]*\.cjs$/),
]);
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== madeOf) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  for (const [name, ...release] of RELEASES) {
    const file = path.join(out, `${name}.exe`);
    run(process.execPath, 'tools/package/probe/make-release.mjs', file, ...release);
  }
  writeFileSync(stamp, madeOf);
}

function filesIn(folder, pattern = /./) {
  return readdirSync(path.join(root, folder), {
    withFileTypes: true,
    recursive: pattern.source === '.',
  })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

function digestOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

// node stand-ins.mjs OUT: copies the built programs to OUT.
// Some programs have a variant for tests, listed under "standIns" in a package.json. In OUT this variant replaces the ordinary program.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { applications, manifestOf, root } from './programs.mjs';

const out = path.resolve(root, process.argv[2]);
const dist = path.join(root, 'dist');
rmSync(out, { recursive: true, force: true });
mkdirSync(out);
for (const name of readdirSync(dist).filter((each) => /\.(?:cjs|node)$/.test(each)))
  copyFileSync(path.join(dist, name), path.join(out, name));
for (const folder of applications.filter((each) => manifestOf(each).standIns !== undefined))
  execFileSync(
    process.execPath,
    [path.join(root, 'tools/bundle.mjs'), folder, '--stand-ins', '--out', out],
    { cwd: root, stdio: 'inherit' },
  );

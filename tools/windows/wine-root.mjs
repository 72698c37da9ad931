// Provides Wine 10, the oldest Wine that starts the shipped runtimes. If the system's Wine is older, installs Wine from Debian 13 once, in a folder
// outside the checkout. Programs then run in a mount namespace whose /usr and `BESIDE_USR` come from that folder.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

const OLDEST = 10;
const SUITE = 'trixie';
const PACKAGES = ['wine', 'wine64'];
/** These paths must match /usr. */
const BESIDE_USR = ['/etc/alternatives', '/etc/ld.so.cache'];
const DEBOOTSTRAP = '/usr/sbin/debootstrap';
const CACHE = '/var/cache/wins-windows-suite';
/** `exec` keeps Wine's exit code, and `slave` makes later mounts visible inside the mount namespace. */
const launcher = (/** @type {string} */ root, /** @type {string} */ program) => `#!/bin/sh
exec /usr/bin/unshare --mount --propagation slave /bin/sh -ec '
  for part in /usr ${BESIDE_USR.join(' ')}; do /bin/mount --bind ${root}"$part" "$part"; done
  exec /usr/bin/${program} "$@"
' ${program} "$@"
`;
const recipe = [SUITE, ...PACKAGES, launcher('', 'wine')].join(' ');
const made = path.join(CACHE, createHash('sha256').update(recipe).digest('hex').slice(0, 16));

const system = ['/usr/bin/wine', '/usr/local/bin/wine'].find(isNewEnough);

export const missingForWine = system === undefined && !existsSync(made) ? whyNotMade() : undefined;

/** Returns the absolute paths of wine and wineserver, and the version. Installs Wine if it is missing, which takes minutes. */
export function windowsPrograms() {
  if (missingForWine !== undefined) throw new Error(`Windows programs need ${missingForWine}`);
  if (system !== undefined)
    return {
      wine: system,
      wineserver: system.replace(/wine$/, 'wineserver'),
      version: versionOf(system),
    };
  if (!existsSync(made)) {
    console.log(
      `installing Wine ${OLDEST} of Debian ${SUITE} in ${made}, once: 1.4 GB, some minutes`,
    );
    make();
  }
  return {
    wine: path.join(made, 'wine'),
    wineserver: path.join(made, 'wineserver'),
    version: path.basename(made),
  };
}

function make() {
  mkdirSync(CACHE, { recursive: true });
  // If two checkouts install Wine at once, the installation that finishes first is kept.
  const work = mkdtempSync(path.join(CACHE, 'making-'));
  try {
    const root = path.join(made, 'root');
    const options = ['--variant=minbase', `--include=${PACKAGES.join(',')}`];
    // Runs debootstrap in a mount namespace, so that an interrupted run leaves no mounts in the folder.
    const command = ['--mount', DEBOOTSTRAP, ...options, SUITE, path.join(work, 'root')];
    execFileSync('/usr/bin/unshare', command, { stdio: ['ignore', 'ignore', 'inherit'] });
    for (const program of ['wine', 'wineserver']) {
      const file = path.join(work, program);
      writeFileSync(file, launcher(root, program));
      chmodSync(file, 0o755);
    }
    chmodSync(work, 0o755);
    renameSync(work, made);
  } catch (error) {
    if (!existsSync(made)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function whyNotMade() {
  const wanted = `Wine ${OLDEST} or later`;
  if (process.platform !== 'linux' || process.arch !== 'x64' || process.getuid?.() !== 0)
    return `${wanted}, or root on x64 Linux, to install it from Debian ${SUITE}`;
  return existsSync(DEBOOTSTRAP)
    ? undefined
    : `${wanted}, or debootstrap (Debian: apt-get install debootstrap)`;
}

/** @param {string} program */
function isNewEnough(program) {
  return Number(/^wine-(\d+)\./m.exec(versionOf(program))?.[1] ?? 0) >= OLDEST;
}

/** @param {string} program */
function versionOf(program) {
  return spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? '';
}

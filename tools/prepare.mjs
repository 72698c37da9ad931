// node tools/prepare.mjs [--check] NEED…
// Makes the named prerequisites of specs, unless they are up to date. Needs the built programs. With --check, it makes nothing, and exits with 1
// if one of the prerequisites is missing or outdated.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { missing as missingForChart } from './chart/engine.mjs';

const root = path.resolve(import.meta.dirname, '..');
const made = path.join(root, 'dist/made-of');
const MAKE_RELEASES = 'tools/package/probe/make-releases.mjs';

/** Name, version and optional flaw of each release that upgrade specs use. */
const RELEASES = ['v1.0.0:v1.0.0', 'v1.1.0:v1.1.0', 'v1.2.0:v1.2.0', 'crashes:v1.9.0:crashes'];
/** Releases that only a few long specs use. */
const ODD_RELEASES = [
  'lies:v1.9.0:lies',
  'deaf:v1.0.1:turns deaf',
  'paused:v1.0.1:pauses',
  'original:v0.1.1:is original',
];

/** Sources of test doubles that specs run in place of shipped code. */
const STAND_INS = [
  'apps/wins-upgrade/src/testing',
  'libs/installation/src/testing',
  'apps/wins-server/src/testing',
  'apps/wins-server/src/features/csi-proxy/testing',
  'libs/base/src/testing',
];

/**
 * Prerequisites by name; `missing` says why one cannot be made here.
 *
 * @type {Record<string, { make: () => void, after?: readonly string[], missing?: string | undefined }>}
 */
const NEEDS = {
  /** The content of a release: dist/package. */
  package: { make: () => node('tools/package/package.mjs') },
  /** Programs for tests on Linux, in dist/stand-ins. A stand-in replaces the service manager. */
  'stand-ins': { make: () => node('tools/package/stand-ins.mjs', 'dist/stand-ins') },
  /** The same programs in one executable, dist/stand-in-executable/wins. This takes 17 s of a processor, and no spec of `npm test` needs it. */
  'stand-in-executable': {
    after: ['stand-ins'],
    make: () =>
      node(
        'tools/package/stand-in-executable.mjs',
        'dist/stand-ins',
        'dist/stand-in-executable/wins',
      ),
  },
  /** An executable whose packed program prints its own arguments, path and other facts: dist/package-probe.exe. */
  probe: { make: () => node('tools/package/probe/make-probe.mjs', 'dist/package-probe.exe') },
  /** Windows releases for tests, in dist/upgrade/NAME.exe. Some have a deliberate flaw. */
  releases: { make: () => makeReleases(RELEASES) },
  'odd-releases': { make: () => makeReleases(ODD_RELEASES) },
  /** A signed release and its certificate: dist/signed. */
  signed: {
    after: ['releases'],
    missing: existsSync('/usr/bin/osslsigncode') ? undefined : 'osslsigncode',
    make: () =>
      node('tools/package/probe/sign-release.mjs', 'dist/upgrade/v1.1.0.exe', 'dist/signed'),
  },
  /** A release for Windows whose commands die before or during a chosen change to the node: dist/deadly.exe. */
  deadly: {
    make: () => node(MAKE_RELEASES, 'dist', 'deadly:v1.1.0:dies'),
  },
  /** Built examples of the libraries, with packed packages for Linux and Windows: dist/examples. */
  examples: {
    make: () => node('tools/libraries/build-examples.mjs', 'dist/examples', '--install'),
  },
  /** Commands of the chart's init containers: dist/chart/releases.json. */
  chart: {
    after: ['releases'],
    missing: missingForChart,
    make: () => node('tools/chart/init-containers.mjs', 'dist/upgrade', 'dist/chart/releases.json'),
  },
};

/**
 * Returns undefined if a prerequisite can be made here, else the reason.
 *
 * @param {string} need
 */
export const whyNot = (need) => needed(need).missing;

/**
 * Makes a prerequisite unless it is up to date. Needs the built programs.
 *
 * @param {string} need
 */
export function prepare(need) {
  const { after = [], make } = needed(need);
  for (const other of after) prepare(other);
  if (isMade(need)) return;
  const stamp = path.join(made, need);
  rmSync(stamp, { force: true });
  make();
  mkdirSync(made, { recursive: true });
  writeFileSync(stamp, madeOf());
}

/** @param {string} need */
function needed(need) {
  const found = NEEDS[need];
  if (found === undefined)
    throw new Error(`cannot prepare "${need}": wanted one of ${Object.keys(NEEDS).join(', ')}`);
  return found;
}

/** @param {string} need */
function isMade(need) {
  const stamp = path.join(made, need);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === madeOf();
}

/** Returns one digest of the commit, the programs, and the code that makes executables and renders the chart. */
function madeOf() {
  const hash = createHash('sha256');
  hash.update(execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root }));
  const files = [
    'package-lock.json',
    'tools/prepare.mjs',
    'tools/windows/packages.json',
    'tools/bundle.mjs',
    ...['charts', 'deploy', 'examples', 'tools/chart', 'tools/libraries', 'tools/package'].flatMap(
      (folder) => filesIn(folder),
    ),
    ...STAND_INS.flatMap(filesIn),
    ...readdirSync(path.join(root, 'dist'))
      .filter((name) => name.endsWith('.cjs'))
      .map((name) => path.join('dist', name)),
  ];
  for (const file of files.sort())
    hash.update(`${file}\0`).update(readFileSync(path.join(root, file)));
  return hash.digest('hex');
}

/** @param {string} folder */
function filesIn(folder) {
  return readdirSync(path.join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
}

/** @param {readonly string[]} releases */
function makeReleases(releases) {
  mkdirSync(path.join(root, 'dist/upgrade'), { recursive: true });
  node(MAKE_RELEASES, 'dist/upgrade', ...releases);
}

/** @param {string[]} args */
function node(...args) {
  execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}

if (process.argv[1] === import.meta.filename) {
  const args = process.argv.slice(2);
  const isCheck = args[0] === '--check';
  for (const need of isCheck ? args.slice(1) : args) {
    const missing = whyNot(need);
    if (missing !== undefined) throw new Error(`cannot prepare "${need}": it needs ${missing}`);
    if (!isCheck) prepare(need);
    else if (!isMade(need)) {
      console.error(`"${need}" is missing or outdated; run node tools/prepare.mjs ${need}`);
      process.exitCode = 1;
    }
  }
}

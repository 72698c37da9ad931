// node tools/libraries/pack-libraries.mjs [--repository URL] [--out FOLDER] [--bundle] [NAME…]
// Packs all built libraries, or the named ones, as FOLDER/*.tgz (default dist/packages); `npm publish FILE` publishes one. With --bundle it makes one
// FOLDER/wins-libraries-VERSION.tar for `npm install --offline`, which contains each library and each third-party package once, for Linux and Windows
// on x64. URL becomes the repository in each package.json; the default is the git remote `origin`.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { runNpm } from '../windows/npm.mjs';
import { libraries, root, stageLibrary } from './stage-library.mjs';

/** Folder beside the tarballs in which the packages are made. */
const UNPACKED = 'unpacked';

/** koffi's native code is a separate package for each system. */
const KOFFI_FOR = ['@koromix/koffi-linux-x64', '@koromix/koffi-win32-x64'];

/**
 * Returns the folder and the tarball of each package.
 *
 * @param {{ names?: readonly string[], repository?: string, out?: string, bundle?: boolean }} [options]
 */
export function packLibraries({
  names = libraries,
  repository = origin(),
  out,
  bundle = false,
} = {}) {
  const folder = path.resolve(out ?? path.join(root, 'dist/packages'));
  mkdirSync(folder, { recursive: true });
  // Two programs that pack to different folders do not disturb each other.
  const unpacked = path.join(folder, UNPACKED);
  const staged = names.map((name) => stageLibrary(name, unpacked, repository));
  const stages = bundle ? bundleDependencies(staged, unpacked) : staged;
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...stages];
  // Show npm's warnings only if it fails.
  const packed = JSON.parse(
    runNpm([...args, '--loglevel=error'], {
      cwd: root,
      encoding: 'utf8',
      // The list of all files of all packages exceeds 1 MB.
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  return packed.map(({ name, filename }, index) => ({
    name,
    stage: stages[index],
    tarball: path.join(folder, filename.replace('@', '').replace('/', '-')),
  }));
}

/**
 * Makes the staged packages installable without a registry. A third-party package that several of them name becomes a package of its own, because
 * bundled copies could not be shared. Each package bundles the rest of its third-party packages.
 *
 * @param {readonly string[]} stages
 * @param {string} parent - Gets the third-party packages of their own as folders.
 * @returns Folders of all packages.
 */
function bundleDependencies(stages, parent) {
  const needed = stages.flatMap((stage) => thirdPartyOf(manifestOf(stage)));
  const wanted = needed.flatMap(([name, range]) =>
    (name === 'koffi' ? [name, ...KOFFI_FOR] : [name]).map((each) => `${each}@${range}`),
  );
  // The folder must be outside this workspace, or npm would treat it as a workspace package.
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-bundle-'));
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true }');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--force'];
  const args = ['install', ...options, '--loglevel=error', ...new Set(wanted)];
  runNpm(args, { cwd: folder, stdio: 'inherit' });
  const installed = path.join(folder, 'node_modules');
  const names = needed.map(([name]) => name);
  const shared = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  const added = [...shared].map((name) => {
    cpSync(path.join(installed, name), path.join(parent, name), { recursive: true });
    return path.join(parent, name);
  });
  const packages = [...stages, ...added];
  for (const stage of packages) {
    const manifest = manifestOf(stage);
    const bundled = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
      .filter((name) => existsSync(path.join(installed, name)))
      .filter((name) => !shared.has(name));
    if (bundled.length === 0) continue;
    // From this copy, `npm pack` later includes only what `bundled` needs.
    cpSync(installed, path.join(stage, 'node_modules'), { recursive: true });
    const text = JSON.stringify({ ...manifest, bundleDependencies: bundled }, null, 2);
    writeFileSync(path.join(stage, 'package.json'), `${text}\n`);
  }
  rmSync(folder, { recursive: true });
  return packages;
}

function thirdPartyOf({ dependencies = {} }) {
  return Object.entries(dependencies).filter(([name]) => !name.startsWith('@wins/'));
}

function manifestOf(stage) {
  return JSON.parse(readFileSync(path.join(stage, 'package.json'), 'utf8'));
}

/** Moves the tarballs into one archive, in which a folder with the archive's name contains them. */
function archive(tarballs, folder) {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const name = `wins-libraries-${version}`;
  const content = path.join(folder, name);
  mkdirSync(content);
  for (const tarball of tarballs) renameSync(tarball, path.join(content, path.basename(tarball)));
  execFileSync('tar', ['-cf', `${name}.tar`, name], { cwd: folder });
  rmSync(content, { recursive: true });
  return path.join(folder, `${name}.tar`);
}

function origin() {
  const args = ['config', '--get', 'remote.origin.url'];
  const { stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  const [, host, name] =
    /^(?:https:\/\/|ssh:\/\/git@|git@)([^/:@]+)[/:](.+?)(?:\.git)?\/?$/.exec(stdout.trim()) ?? [];
  return host && `https://${host}/${name}`;
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    options: {
      repository: { type: 'string' },
      out: { type: 'string' },
      bundle: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const names = positionals.length > 0 ? positionals : libraries;
  const tarballs = packLibraries({ ...values, names }).map(({ tarball }) => tarball);
  const folder = path.dirname(tarballs[0]);
  rmSync(path.join(folder, UNPACKED), { recursive: true });
  const made = values.bundle ? [archive(tarballs, folder)] : tarballs;
  for (const file of made) console.log(file);
}

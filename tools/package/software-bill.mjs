// Writes the software bill of materials in CycloneDX, from the lock file. `npm sbom --omit dev` would omit packages that development also needs, such
// as yargs.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { applications, root, version } from './programs.mjs';

const read = (file) => JSON.parse(readFileSync(path.join(root, file), 'utf8'));

/** Lists all packages on which the programs depend, the pinned runtimes, and the pinned native addons. */
export function softwareBill() {
  const { packages } = read('package-lock.json');
  const found = new Map();
  const pending = [...applications];
  for (const key of pending) {
    if (found.has(key)) continue;
    const { dependencies = {} } = packages[key];
    const needs = Object.keys(dependencies).map((name) => resolve(packages, key, name));
    found.set(key, needs);
    pending.push(...needs);
  }
  const inLock = [...found].map(([key, needs]) => ({
    component: componentOf(packages, key),
    dependsOn: needs.map((need) => componentOf(packages, need).purl).sort(),
  }));
  const pinned = Object.entries(read('tools/windows/packages.json')).map(
    ([name, { version, integrity }]) => ({
      component: component(name, version, { integrity, type: 'platform' }),
      dependsOn: [],
    }),
  );
  const all = [...inLock, ...pinned].sort((a, b) => (a.component.purl < b.component.purl ? -1 : 1));
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp: commitTime().toISOString(),
      component: { type: 'application', 'bom-ref': 'wins', name: 'wins', version },
    },
    components: all.map(({ component }) => component),
    dependencies: all.map(({ component, dependsOn }) => ({ ref: component.purl, dependsOn })),
  };
  return `${JSON.stringify({ ...bill, serialNumber: serialNumber(bill) }, null, 2)}\n`;
}

/** Finds a package as Node does: in the nearest node_modules upwards. Links lead to workspaces. */
function resolve(packages, from, name) {
  for (let folder = from; ; folder = folder.replace(/(^|\/)[^/]*$/, '')) {
    const key = path.posix.join(folder, 'node_modules', name);
    const entry = packages[key];
    if (entry !== undefined) return entry.link === true ? entry.resolved : key;
    if (folder === '') throw new Error(`the lock file has no ${name} for ${from}`);
  }
}

function componentOf(packages, key) {
  const { name = key.split('node_modules/').pop(), version, ...rest } = packages[key];
  return component(name, version, rest);
}

function component(fullName, version, { integrity, license = undefined, type = 'library' }) {
  const purl = `pkg:npm/${fullName.replace('@', '%40')}@${version}`;
  const [name, group] = fullName.split('/').reverse();
  const algorithm = integrity?.slice(0, integrity.indexOf('-'));
  return {
    type,
    'bom-ref': purl,
    ...(group === undefined ? {} : { group }),
    name,
    version,
    purl,
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(algorithm === 'sha512'
      ? { hashes: [{ alg: 'SHA-512', content: hexadecimal(integrity.slice(7)) }] }
      : {}),
  };
}

const hexadecimal = (base64) => Buffer.from(base64, 'base64').toString('hex');

/** Returns the time of the commit (or `SOURCE_DATE_EPOCH`), because all builds of a commit must have the same software bill of materials. */
function commitTime() {
  const given = process.env.SOURCE_DATE_EPOCH;
  const git = ['log', '-1', '--format=%ct'];
  return new Date(
    1000 * Number(given ?? execFileSync('git', git, { cwd: root, encoding: 'utf8' })),
  );
}

/** UUID (version 8) from the digest of the content. */
function serialNumber(bill) {
  const digest = createHash('sha256').update(JSON.stringify(bill)).digest('hex');
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digest) ?? [];
  return `urn:uuid:${a}-${b}-8${c}-8${d}-${e}`;
}

// node tools/released-keys.mjs VERSION [--write]
// Prints the text of libs/config/released-keys.json for release VERSION: the keys of the config, and the first release of each. `nx release` writes
// it. A test compares the keys of the schema with that file, so that a key which is newer than the last release cannot claim to be older.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { loadSources } from './load-sources.mjs';

const root = path.resolve(import.meta.dirname, '..');
const file = path.join(root, 'libs/config/released-keys.json');
const [version = '', option] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version)) fail(`"${version}" is no version`);

const { configKeys } = await loadSources("export { configKeys } from '@wins/config'", 'apps');
const before = JSON.parse(readFileSync(file, 'utf8'));
const tags = execFileSync('git', ['tag', '--list', `v${version}`], { cwd: root, encoding: 'utf8' });
if (tags !== '') fail(`release ${version} has a tag already`);
/** @type {readonly { key: string, since: string }[]} */
const keys = configKeys('linux');
for (const { key, since } of keys)
  if (since !== (before.keys[key] ?? version))
    fail(`${key} says "since ${since}"; its first release is ${before.keys[key] ?? version}`);
const now = {
  release: version,
  keys: Object.fromEntries(keys.map(({ key, since }) => [key, since])),
};
const text = `${JSON.stringify(now, null, 2)}\n`;
if (option === '--write') writeFileSync(file, text);
else process.stdout.write(text);

/** @param {string} reason */
function fail(reason) {
  console.error(`cannot list the keys of a release: ${reason}`);
  process.exit(1);
}

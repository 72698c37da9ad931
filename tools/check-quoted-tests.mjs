// Every test that docs/threat-model.md and docs/testing.md quote exists: `short/file` "title", "another title of the same file".
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const PAGES = ['docs/threat-model.md', 'docs/testing.md'];
const texts = PAGES.map((page) => readFileSync(path.join(root, page), 'utf8'));
const folders = new Map(
  [...texts.join('\n').matchAll(/\| `([a-z0-9-]+)`\s+\| `((?:libs|apps)\/[^`]+)`/g)].map(
    ([, short, folder]) => [short, folder],
  ),
);

/** The text of the specs of a folder that are meant by a name: a file in any of its rooms (a contract of several specs is no spec itself), or all of a room. */
function specs(short, name) {
  const folder = path.join(root, folders.get(short));
  const isMeant = (file) =>
    /\.ts$/.test(file) &&
    (`/${file}`.replace(/(\.(windows-)?((long|release)-)?spec)?\.ts$/, '').endsWith(`/${name}`) ||
      file.startsWith(`${name}/`));
  return readdirSync(folder, { recursive: true })
    .map((file) => file.replaceAll('\\', '/'))
    .filter(isMeant)
    .map((file) => readFileSync(path.join(folder, file), 'utf8'))
    .join('\n');
}
/** Quotes and escapes of the source, and line ends of the page, say nothing. */
const plain = (source) => source.replace(/\\(['"`])/g, '$1').replace(/\s+/g, ' ');

let quoted = 0;
let missing = 0;
for (const [index, page] of PAGES.entries()) {
  for (const [, short, name, titles] of texts[index].matchAll(
    /`([a-z0-9-]+)\/([a-z0-9/-]+)`((?:,?\s+"[^"]+")+)/g,
  )) {
    if (!folders.has(short)) continue;
    const source = plain(specs(short, name));
    for (const [, title] of titles.matchAll(/"([^"]+)"/g)) {
      quoted += 1;
      if (source.includes(plain(title))) continue;
      missing += 1;
      console.error(`${page}: ${short}/${name} has no test ${JSON.stringify(title)}`);
    }
  }
}
console.log(`${quoted} quoted tests, ${missing} of them missing`);
process.exitCode = missing === 0 && quoted > 0 ? 0 : 1;

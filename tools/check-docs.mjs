// Checks that every file named in CONTRIBUTING.md and every test quoted in docs/threat-model.md and docs/testing.md exists. The form of a quote is
// `short/file` "title", "another title of this file". Also checks that docs/adr/README.md lists every decision by title, date and status.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
/** @param {string} file */
const read = (file) => readFileSync(path.join(root, file), 'utf8');
const PAGES = ['docs/threat-model.md', 'docs/testing.md'];
const folders = new Map(
  Array.from(
    read('docs/threat-model.md').matchAll(/\| `([a-z0-9-]+)`\s+\| `((?:libs|apps)\/[^`]+)`/g),
    ([, short = '', folder = '']) => [short, folder],
  ),
);

const named = Array.from(
  read('CONTRIBUTING.md').matchAll(/`((?:apps|libs|docs|tools)\/[^`*<]+\.[a-z]+)`/g),
  ([, file = '']) => file,
);
const problems = named
  .filter((file) => !existsSync(path.join(root, file)))
  .map((file) => `CONTRIBUTING.md names ${file}, which does not exist`);
let quoted = 0;
for (const page of PAGES)
  for (const [, short = '', name = '', titles = ''] of read(page).matchAll(
    /`([a-z0-9-]+)\/([a-z0-9/-]+)`(?: \(Wine\))?((?:,?\s+"[^"]+")+)/g,
  )) {
    const folder = folders.get(short);
    if (folder === undefined) continue;
    const source = plain(specs(folder, name));
    for (const [, title = ''] of titles.matchAll(/"([^"]+)"/g)) {
      quoted += 1;
      if (!source.includes(plain(title)))
        problems.push(`${page}: ${short}/${name} has no test ${JSON.stringify(title)}`);
    }
  }
const index = read('docs/adr/README.md').replace(/ +/g, ' ');
for (const name of readdirSync(path.join(root, 'docs/adr')).filter((one) => /^\d/.test(one))) {
  const [, number, title, date, status] =
    /^# (\d+)\. (.*)\n\nDate: ([\d-]+).*?Status: (\w+)/.exec(read(`docs/adr/${name}`)) ?? [];
  if (!index.includes(`| ${number} | [${title}](${name}) | ${date} | ${status}`))
    problems.push(
      `docs/adr/README.md has no row for ${name} with its number, title, date and status`,
    );
}
for (const problem of problems) console.error(problem);
console.log(`${named.length} files, ${quoted} quoted tests`);
process.exitCode = problems.length === 0 && named.length > 0 && quoted > 0 ? 0 : 1;

/**
 * Returns the text of the files that `name` selects in `folder`: files of that name at any depth, or all files of that subfolder.
 *
 * @param {string} folder
 * @param {string} name
 */
function specs(folder, name) {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts'))
    .filter(
      (file) =>
        `/${file}`
          .replace(/(\.(windows-)?((full|long|release)-)?spec)?\.ts$/, '')
          .endsWith(`/${name}`) || file.startsWith(`${name}/`),
    )
    .map((file) => read(path.join(folder, file)))
    .join('\n');
}

/**
 * Makes the texts of source and page comparable: unescapes quotes and replaces line breaks.
 *
 * @param {string} source
 */
function plain(source) {
  return source.replace(/\\(['"`])/g, '$1').replace(/\s+/g, ' ');
}

// Checks that every file named in CONTRIBUTING.md exists, and every test quoted in docs/testing.md or in the lists of attacks, faults and cases
// (docs/*.yaml). The form of a quote is `short/file` "title", "another title of this file". Also checks that docs/threat-model.md names each attack, and
// that docs/adr/README.md lists every decision by title and status.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import yaml from 'yaml';
import { z } from 'zod';

const text = z.string().nonempty();
const tests = z.array(text).nonempty();
const attacksSchema = z.array(
  z.strictObject({
    id: z.string().regex(/^A\d+$/),
    attackers: z
      .array(
        z.enum(['container', 'tunnel', 'user', 'network', 'server', 'plan', 'log', 'accident']),
      )
      .nonempty(),
    assets: z
      .array(
        z.enum([
          'programs',
          'runs',
          'daemon',
          'pipe',
          'host-network',
          'node',
          'records',
          'secrets',
        ]),
      )
      .nonempty(),
    attack: text,
    defence: text,
    tests,
    since: z.iso.date(),
  }),
);
const faultsSchema = z.array(
  z.strictObject({ id: z.string().regex(/^F\d+$/), fault: text, behaviour: text, tests }),
);
const casesSchema = z.array(z.strictObject({ subject: text, case: text, tests }));

const root = path.resolve(import.meta.dirname, '..');
/** @param {string} file */
const read = (file) => readFileSync(path.join(root, file), 'utf8');
/** @param {string} file */
const readYaml = (file) => yaml.parse(read(file));
const folders = new Map(Object.entries(readYaml('docs/test-folders.yaml')));
const attacks = attacksSchema.parse(readYaml('docs/attacks.yaml'));
const faults = faultsSchema.parse(readYaml('docs/faults.yaml'));
const sources = new Map([
  ['docs/testing.md', read('docs/testing.md')],
  ['docs/attacks.yaml', quotesOf(attacks)],
  ['docs/faults.yaml', quotesOf(faults)],
  ['docs/cases.yaml', quotesOf(casesSchema.parse(readYaml('docs/cases.yaml')))],
]);

const named = Array.from(
  read('CONTRIBUTING.md').matchAll(/`((?:apps|libs|docs|tools)\/[^`*<]+\.[a-z]+)`/g),
  ([, file = '']) => file,
);
const problems = named
  .filter((file) => !existsSync(path.join(root, file)))
  .map((file) => `CONTRIBUTING.md names ${file}, which does not exist`);
let quoted = 0;
for (const [page, quotes] of sources)
  for (const [, short = '', name = '', titles = ''] of quotes.matchAll(
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
const ids = [...attacks, ...faults].map(({ id }) => id);
const onPage = idsOn(read('docs/threat-model.md'));
problems.push(
  ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `docs/*.yaml has ${id} twice`),
  ...attacks
    .filter(({ id }) => !onPage.has(id))
    .map(({ id }) => `docs/threat-model.md does not name the attack ${id}`),
  ...[...onPage]
    .filter((id) => !ids.includes(id))
    .map((id) => `docs/threat-model.md names the attack ${id}, which is not in docs/attacks.yaml`),
);
const index = read('docs/adr/README.md');
for (const name of readdirSync(path.join(root, 'docs/adr')).filter((one) => /^\d/.test(one))) {
  const [, number, title, status] =
    /^# (\d+)\. (.*)\n\nDate: .*?Status: (\w+)/.exec(read(`docs/adr/${name}`)) ?? [];
  const note = status === 'accepted' ? '\n' : `, ${status} `;
  if (!`\n${index}`.includes(`\n${number}. [${title}](${name})${note}`))
    problems.push(`docs/adr/README.md has no entry for ${name} with its number, title and status`);
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

/** @param {readonly { tests: readonly string[] }[]} entries */
function quotesOf(entries) {
  return entries.flatMap((entry) => entry.tests).join('\n');
}

/**
 * Returns the numbers of attacks that `page` names, alone or in a range such as A3–A6.
 *
 * @param {string} page
 */
function idsOn(page) {
  const found = new Set();
  for (const [, first = '', last = first] of page.matchAll(/\bA(\d+)(?:–A(\d+))?/g))
    for (let number = Number(first); number <= Number(last); number += 1) found.add(`A${number}`);
  return found;
}

// node tools/references.mjs [--check]
// Writes the generated parts of pages. Sources: config, commands, metrics and resources from the code, and results on real Windows from transcripts. Targets: the
// text between marks in docs/architecture.md, docs/config.md, docs/libraries.md, docs/observability.md and docs/windows.md; all of docs/commands.md, docs/command-output.schema.json,
// docs/man/*.1, libs/config/src/gen/wins-config.ts and the chart's template of config keys; and the examples: of examples/libraries in each library's
// README, of examples/cookbook in docs/libraries.md; and the error codes of each library in its README. With --check it writes nothing, and fails when a page differs.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatPage } from './format-page.mjs';
import { loadSources } from './load-sources.mjs';
import { chartConfigKeys } from './references/chart-config-keys.mjs';
import { commandPages, outputSchema } from './references/command-pages.mjs';
import { configKeyLists } from './references/config-key-lists.mjs';
import { errorCodes } from './references/error-codes.mjs';
import { compiledSettings, configTypes } from './references/config-types.mjs';
import { metricsList } from './references/metrics-list.mjs';
import { resourceRows } from './references/resource-table.mjs';
import { acceptanceTable, filedTranscripts } from './windows/acceptance.mjs';

const root = path.resolve(import.meta.dirname, '..');
const MANUALS = 'docs/man';
const BEGIN = '<!-- written by tools/references.mjs -->';
const END = '<!-- up to here -->';

const { version } = JSON.parse(readFileSync(path.join(root, 'apps/wins/package.json'), 'utf8'));
const sources = await loadSources(
  `export { configJsonSchema, configKeys } from '@wins/config';
  export { FILE_SCHEMA } from '../libs/config/src/schema/file-schema.js';
  export { settingName } from '../libs/config/src/parse/settings-of.js';
  export { bareSchema, entryOf, fieldsOf, notesOf } from '../libs/config/src/schema/notation.js';
  export { GLOBAL_OPTIONS } from './wins/src/command-line/option.js';
  export { usageLine } from './wins/src/command-line/help-text.js';
  export { root } from './wins/src/commands/root.js';
  export { FEATURES } from './wins-server/src/features/features.js';
  export { commandJsonSchema } from './wins-e2e/src/testing/commands/command-json.js';
  export { PROCESSOR, resourceTable } from './wins-server/src/kernel/admission/resources.js';
  export { allMetrics } from './wins-server/src/features/metrics/metric-table.js';`,
  'apps',
);
const { markdown, manuals } = commandPages(sources, version);
const pages = new Map([
  ['docs/architecture.md', between('docs/architecture.md', resourceRows(sources))],
  ['docs/config.md', between('docs/config.md', configKeyLists(sources.configJsonSchema()))],
  ['docs/observability.md', between('docs/observability.md', metricsList(sources))],
  ['docs/windows.md', between('docs/windows.md', acceptanceTable(filedTranscripts()))],
  ['docs/libraries.md', between('docs/libraries.md', cookbook())],
  ['docs/commands.md', markdown],
  ['docs/command-output.schema.json', outputSchema(sources)],
  ['libs/config/src/gen/wins-config.ts', configTypes(sources, compiledSettings())],
  [
    'charts/rancher-wins-upgrader/templates/_config-keys.tpl',
    chartConfigKeys(sources.configJsonSchema()),
  ],
  ...manuals.map(([name, text]) => /** @type {const} */ ([`${MANUALS}/${name}`, text])),
  ...readdirSync(path.join(root, 'libs')).map((name) => withExample(name)),
]);

const isCheck = process.argv.includes('--check');
for (const [page, text] of pages) {
  const file = path.join(root, page);
  const wanted = /\.(?:md|json|ts)$/.test(page) ? await formatPage(text, page) : text;
  if (existsSync(file) && readFileSync(file, 'utf8') === wanted) continue;
  if (isCheck) differs(page);
  else writeFileSync(file, wanted);
}
for (const name of readdirSync(path.join(root, MANUALS))) {
  if (pages.has(`${MANUALS}/${name}`)) continue;
  if (isCheck) differs(`${MANUALS}/${name}`);
  else rmSync(path.join(root, MANUALS, name));
}

/** @param {string} page */
function differs(page) {
  console.error(`${page} is outdated; run npm run generate`);
  process.exitCode = 1;
}

/**
 * @param {string} page
 * @param {string} text
 */
function between(page, text) {
  const before = readFileSync(path.join(root, page), 'utf8');
  const [head, tail] = [before.split(BEGIN)[0], before.split(END)[1]];
  if (tail === undefined) throw new Error(`cannot write ${page}: found no "${END}" in it`);
  return `${head}${BEGIN}\n\n${text}\n\n${END}${tail}`;
}

/** Returns a list of the example programs: a link to each, and its first comment. */
function cookbook() {
  const folder = path.join(root, 'examples/cookbook');
  return readdirSync(folder)
    .map((file) => {
      const [comment = ''] =
        /^(?:\/\/ .*\n)+/.exec(readFileSync(path.join(folder, file), 'utf8')) ?? [];
      const text = comment
        .replaceAll(/^\/\/ /gm, '')
        .trim()
        .replaceAll('\n', ' ');
      const [meaning, usage] = text.split(/: (?=node )/);
      return `- [${file}](../examples/cookbook/${file}): ${meaning}: \`${usage}\``;
    })
    .join('\n');
}

/**
 * Returns the path of a library's README, and its text with the codes of its errors between the marks, and with the library's examples in its
 * TypeScript blocks, in the order of their file names: `LIBRARY.ts`, then `LIBRARY.TOPIC.ts`.
 *
 * @param {string} library
 * @returns {[page: string, text: string]}
 */
function withExample(library) {
  const page = `libs/${library}/README.md`;
  const folder = path.join(root, 'examples/libraries');
  const examples = readdirSync(folder)
    .filter((file) => file.split('.')[0] === library)
    .sort((a, b) => a.length - b.length)
    .map((file) => readFileSync(path.join(folder, file), 'utf8'));
  const codes = errorCodes(path.join(root, 'libs', library, 'src'));
  const before =
    codes === undefined ? readFileSync(path.join(root, page), 'utf8') : between(page, codes);
  const blocks = before.match(/```ts\n.*?```/gs) ?? [];
  if (examples.length === 0 || blocks.length < examples.length)
    throw new Error(`cannot write ${page}: found ${blocks.length} \`\`\`ts blocks in it`);
  let at = 0;
  const text = before.replace(/```ts\n.*?```/gs, (block) => {
    const example = examples[at++];
    return example === undefined ? block : `\`\`\`ts\n${example}\`\`\``;
  });
  return [page, text];
}

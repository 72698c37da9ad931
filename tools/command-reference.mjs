// node tools/command-reference.mjs [--check]
// Writes docs/commands.md and the man pages docs/man/*.1 from the tree of commands. With --check it writes nothing, and fails when a page
// differs.
import { build } from 'esbuild';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { manPage } from './command-reference/man-page.mjs';
import { markdownPage } from './command-reference/markdown-page.mjs';

const root = path.resolve(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(path.join(root, 'apps/wins/package.json'), 'utf8'));

/** Every command that does something, with the words of its path, and the options that it takes. */
function commandsOf(node, above = [], inherited = {}) {
  const words = [...above, node.name];
  const options = { ...inherited, ...node.options };
  if (node.commands === undefined) return [{ ...node, words, options }];
  return node.commands
    .filter(({ isHidden }) => isHidden !== true)
    .flatMap((below) => commandsOf(below, words, options));
}

async function loadTree() {
  // Beside the other programs, so that packages are found.
  const folder = mkdtempSync(path.join(root, 'tools/.tree-'));
  try {
    const outfile = path.join(folder, 'tree.cjs');
    await build({
      stdin: {
        contents: `export { root } from './commands/root.js';
          export { GLOBAL_OPTIONS } from './command-line/global-options.js';
          export { usageLine } from './command-line/help-text.js';`,
        resolveDir: path.join(root, 'apps/wins/src'),
      },
      ...{ outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'warning' },
      conditions: ['@wins/source'],
      external: ['./wins*.cjs'],
      define: { BUILD_VERSION: `"v${version}"`, BUILD_COMMIT: '""' },
    });
    return createRequire(import.meta.url)(outfile);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const tree = await loadTree();
const groups = new Map();
const pathOf = (words) => {
  const nodes = [tree.root];
  for (const word of words.slice(1))
    nodes.push(nodes.at(-1).commands.find(({ name }) => name === word));
  return nodes;
};
const commands = commandsOf(tree.root).map((command) => {
  const nodes = pathOf(command.words);
  const above = nodes.slice(0, -1);
  groups.set(command.words.slice(0, -1).join(' '), above.at(-1));
  return {
    ...command,
    usage: tree.usageLine(nodes),
    visible: Object.entries(command.options).filter(([, { isHidden }]) => isHidden !== true),
    otherNames: nodes.flatMap(({ name, aliases = [] }) => aliases.map((alias) => [name, alias])),
  };
});
const common = Object.entries(tree.GLOBAL_OPTIONS);

const pages = new Map();
const markdown = path.join(root, 'docs/commands.md');
pages.set(
  markdown,
  await format(markdownPage({ root: tree.root, commands, common }), {
    ...(await resolveConfig(markdown)),
    parser: 'markdown',
  }),
);
const manuals = path.join(root, 'docs/man');
for (const command of commands)
  pages.set(
    path.join(manuals, `${command.words.join('-')}.1`),
    manPage(command, { common, version }),
  );

mkdirSync(manuals, { recursive: true });
const old = readdirSync(manuals)
  .map((name) => path.join(manuals, name))
  .filter((file) => !pages.has(file));
const readOrNothing = (file) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};
const changed = [...pages].filter(([file, text]) => readOrNothing(file) !== text);
if (process.argv.includes('--check')) {
  for (const file of [...old, ...changed.map(([file]) => file)])
    console.error(`${path.relative(root, file)} differs: run node tools/command-reference.mjs`);
  process.exitCode = old.length + changed.length === 0 ? 0 : 1;
} else {
  for (const file of old) rmSync(file);
  for (const [file, text] of changed) writeFileSync(file, text);
}
console.log(`${commands.length} commands`);

// Checks the PowerShell scripts without running them, because the tests have no PowerShell. Parses each script with the tree-sitter grammar of
// VS Code, and checks that every called name is a cmdlet (Verb-Noun), a function of the script, or a path.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';

// Otherwise Node spends 15 s of processor time on optimising the grammar before it exits.
setFlagsFromString('--liftoff-only');
const require = createRequire(import.meta.url);
const { Language, Parser } = require('@vscode/tree-sitter-wasm');
const grammars = path.dirname(require.resolve('@vscode/tree-sitter-wasm'));
const root = path.resolve(import.meta.dirname, '..');

await Parser.init({ locateFile: (name) => path.join(grammars, name) });
const parser = new Parser();
parser.setLanguage(await Language.load(path.join(grammars, 'tree-sitter-powershell.wasm')));

const scripts = ['deploy', 'tools']
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true }).map((name) =>
      path.join(folder, name),
    ),
  )
  .filter((name) => name.endsWith('.ps1'));
const faults = scripts.flatMap((script) => {
  const tree = parser.parse(readFileSync(path.join(root, script), 'utf8'));
  if (tree === null) return [`${script}: it was not parsed`];
  const { rootNode } = tree;
  const own = new Set(rootNode.descendantsOfType('function_name').map((node) => node?.text));
  return faultsIn(rootNode, own).map((fault) => `${script}:${fault}`);
});
for (const fault of faults) console.error(fault);
console.log(`${scripts.length} scripts of PowerShell, ${faults.length} faults`);
process.exitCode = faults.length === 0 && scripts.length > 0 ? 0 : 1;

function faultsIn(root, own) {
  const named = root
    .descendantsOfType('command_name')
    .filter(({ text }) => !own.has(text) && !/^[A-Z]\w+-[A-Z]\w+$/.test(text))
    .map((node) => `${locationOf(node)}: found the bare name ${JSON.stringify(node.text)}`);
  return root.hasError ? [...named, ...errorsIn(root)] : named;
}

function errorsIn(node) {
  if (node.isMissing) return [`${locationOf(node)}: found no ${node.type}`];
  if (node.isError) return [`${locationOf(node)}: cannot parse this as PowerShell`];
  return node.hasError ? node.children.flatMap(errorsIn) : [];
}

function locationOf({ startPosition: { row, column } }) {
  return `${row + 1}:${column + 1}`;
}

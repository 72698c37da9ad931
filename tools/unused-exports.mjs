// node tools/unused-exports.mjs [--list]
// Finds exports of libraries' main entry points that this repository does not use. An export is in use if another package, a tool or an example
// imports it, or if its name occurs in the declaration of a used export. The declarations are in etc/. The library's README must mention each
// unused export, for other users. At most MOST_FOR_OTHERS exports may be unused. --list prints the unused exports.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.resolve(import.meta.dirname, '..');
const MOST_FOR_OTHERS = 60;

const read = (file) => readFileSync(path.join(root, file), 'utf8');
const parse = (text) => ts.createSourceFile('one.ts', text, ts.ScriptTarget.Latest);
const patterns = ['*.ts', '*.mjs', '*.cjs', '*.js'];
// A new file counts before it is added.
const list = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns];
const sources = execFileSync('git', list, { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => /^(?:libs|apps|tools|examples)\//.test(file))
  .filter((file) => existsSync(path.join(root, file)))
  .map((file) => ({ file, text: read(file) }))
  .filter(({ text }) => text.includes('@wins/'))
  .map((source) => ({ ...source, lists: listsIn(source.text) }));

const problems = [];
const forOthers = [];
for (const library of readdirSync(path.join(root, 'libs'))) {
  const names = namesOf(library);
  const used = importedNames(library, names);
  addShown(used, declarationsOf(library));
  const readme = new Set(read(`libs/${library}/README.md`).match(/\w+/g));
  for (const name of names.filter((one) => !used.has(one)))
    if (readme.has(name)) forOthers.push(`@wins/${library}: ${name}`);
    else
      problems.push(`@wins/${library}: nothing uses ${name}, and the README does not mention it`);
}
if (process.argv.includes('--list')) for (const one of forOthers) console.log(one);
console.log(`${forOthers.length} exported names are only for users outside this repository`);
if (forOthers.length > MOST_FOR_OTHERS)
  problems.push(`found ${forOthers.length} names for others; wanted at most ${MOST_FOR_OTHERS}`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function namesOf(library) {
  return parse(read(`libs/${library}/src/index.ts`)).statements.flatMap((statement) => {
    const list = ts.isExportDeclaration(statement) ? listOf(statement.exportClause) : undefined;
    if (list === undefined) throw new Error(`libs/${library}/src/index.ts: found no list of names`);
    return list.elements.map(({ name }) => name.text);
  });
}

/** Returns the lists of names that a file imports, or exports from another. Only these statements are parsed, in the form of the formatter. */
function listsIn(text) {
  const statements =
    text.match(/^(?:import|export) (?:type )?\{[^}]*\} from '@wins\/.*';$/gm) ?? [];
  return parse(statements.join('\n')).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier } = statement;
    if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier)) return [];
    const list = ts.isExportDeclaration(statement)
      ? statement.exportClause
      : statement.importClause?.namedBindings;
    return [{ specifier: moduleSpecifier.text, elements: listOf(list)?.elements ?? [] }];
  });
}

function listOf(clause) {
  return clause !== undefined && (ts.isNamedExports(clause) || ts.isNamedImports(clause))
    ? clause
    : undefined;
}

function importedNames(library, names) {
  const specifier = `@wins/${library}`;
  const used = new Set();
  for (const { file, text, lists } of sources) {
    if (file.startsWith(`libs/${library}/`) || !text.includes(`'${specifier}'`)) continue;
    for (const list of lists)
      if (list.specifier === specifier)
        for (const { name, propertyName } of list.elements) used.add((propertyName ?? name).text);
    // If a file has a dynamic import, every exported name that it mentions counts as used, because code can extract names in many ways.
    if (new RegExp(`(?:import|require|createRequire\\(.*\\))\\(\\s*'${specifier}'`).test(text)) {
      const words = new Set(text.match(/\w+/g));
      for (const name of names.filter((one) => words.has(one))) used.add(name);
    }
  }
  return used;
}

function declarationsOf(library) {
  const code = /```ts\n([^]*?)```/.exec(read(`etc/${library}.api.md`))?.[1];
  const shown = new Map();
  for (const statement of parse(code).statements) {
    const words = new Set();
    const visit = (node) => {
      const type =
        node.typeName ?? node.exprName ?? (node.typeArguments && node.expression) ?? node;
      if (node !== type || ts.isExpressionWithTypeArguments(node)) {
        const name = ts.isExpressionWithTypeArguments(node) ? node.expression : type;
        if (ts.isIdentifier(name)) words.add(name.text);
      }
      ts.forEachChild(node, visit);
    };
    visit(statement);
    const list = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations
      : [/** @type {ts.DeclarationStatement} */ (statement)];
    // An overloaded function has a declaration for each form.
    for (const { name } of list)
      if (name !== undefined && ts.isIdentifier(name))
        shown.set(name.text, [...(shown.get(name.text) ?? []), ...words]);
  }
  return shown;
}

function addShown(used, shown) {
  // The loop also visits the names that it adds.
  for (const name of used) for (const word of shown.get(name) ?? []) used.add(word);
}

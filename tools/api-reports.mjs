// node tools/api-reports.mjs [--check]
// Writes etc/<library>.api.md: what each library exports at its main door, from the declarations in its dist/. A change of a public
// face is then a change of a file that is reviewed. With --check it writes nothing, and fails when a committed report differs.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.resolve(import.meta.dirname, '..');
const reports = path.join(root, 'etc');
const isCheck = process.argv[2] === '--check';
const printer = ts.createPrinter({ removeComments: true });

const libraries = readdirSync(path.join(root, 'libs')).sort();
const entries = new Map(
  libraries.map((library) => [library, path.join(root, 'libs', library, 'dist/index.d.ts')]),
);
const problems = [...entries]
  .filter(([, entry]) => !existsSync(entry))
  .map(([library]) => `libs/${library} is not built: npm run build`);
if (problems.length === 0) compareAll();
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function compareAll() {
  const program = ts.createProgram([...entries.values()], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.Node20,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    // Other libraries are seen as they were built: the condition that leads to sources is not set.
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  });
  const faces = new Map();
  for (const [library, entry] of entries) {
    const source = program.getSourceFile(entry);
    faces.set(`${library}.api.md`, faceOf(library, source, program.getTypeChecker()));
  }
  if (isCheck) return check(faces);
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports);
  for (const [name, face] of faces) writeFileSync(path.join(reports, name), face);
}

function check(faces) {
  const committed = existsSync(reports) ? readdirSync(reports) : [];
  for (const name of new Set([...faces.keys(), ...committed])) {
    const file = path.join(reports, name);
    const found = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    if (found !== faces.get(name))
      problems.push(
        `etc/${name} is not what the library exports: run npm run api, and look at what changed`,
      );
  }
}

/** The declarations of all that a library exports, by name, without comments. */
function faceOf(library, source, checker) {
  const exported = checker
    .getExportsOfModule(checker.getSymbolAtLocation(source))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const texts = exported.flatMap((symbol) => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return (target.declarations ?? []).map(
      (declaration) => `// ${symbol.name}\n${textOf(declaration)}`,
    );
  });
  return `# @wins/${library}\n\nMade by \`npm run api\`.\n\n\`\`\`ts\n${texts.join('\n\n')}\n\`\`\`\n`;
}

function textOf(declaration) {
  // A constant is declared by the statement around it.
  const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const text = printer.printNode(ts.EmitHint.Unspecified, node, declaration.getSourceFile());
  return text
    .split('\n')
    .filter((line) => !/^\s*(private |#private)/.test(line))
    .join('\n')
    .replace(/^export declare /, 'export ');
}

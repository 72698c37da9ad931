// node tools/figures.mjs [--check]
// Prints how large the packages are (tokens of source and of specs with their helpers, without comments and generated code; types and imports of the
// source), and how many files know each feature. With --check it prints only what it finds wrong: a folder with too many files, circular imports of
// files or of folders, and a feature that too many files know.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { findCircles, folderOf } from './import-circles.mjs';

const root = path.resolve(import.meta.dirname, '..');
const MOST_FILES = 20;
/** Files outside its folders that may know a feature. */
const MOST_KNOWING = 10;
const TYPES = new Set([
  ts.SyntaxKind.ClassDeclaration,
  ts.SyntaxKind.EnumDeclaration,
  ts.SyntaxKind.InterfaceDeclaration,
  ts.SyntaxKind.TypeAliasDeclaration,
]);

const read = (file) => readFileSync(path.join(root, file), 'utf8');
const args = ['ls-files', '--cached', '--others', '--exclude-standard', 'libs/*.ts', 'apps/*.ts'];
const files = execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file.includes('/src/') && existsSync(path.join(root, file)))
  // Generated code and input of specs do not count.
  .filter((file) => !/\/(gen|fixtures)\//.test(file))
  .map((file) => ({ file, text: read(file), project: file.split('/', 2).join('/') }));

/**
 * Words of features, and the folders of each.
 *
 * @type {Readonly<Record<string, { word: RegExp, folders: readonly string[] }>>}
 */
const FEATURES = {
  'csi-proxy': { word: /csi-?proxy/i, folders: ['apps/wins-server/src/features/csi-proxy/'] },
  'host network': {
    word: /host-?network/i,
    folders: [
      // Parts that both features use.
      'apps/wins-server/src/features/host-network/',
      'apps/wins-server/src/features/network/',
      'apps/wins-server/src/features/ports/',
      'libs/host-network/',
    ],
  },
  ports: {
    word: /HostPortSettings|port-?relay|relayed-?port|ports-?facts|\/ports\//i,
    folders: ['apps/wins-server/src/features/ports/', 'libs/tcp-tunnel/src/relay/'],
  },
  agent: {
    word: /system-?agent/i,
    folders: ['apps/wins-server/src/features/agent/', 'libs/system-agent/'],
  },
  // Detached is a lifetime of the one engine of runs, so the folders of that engine count as its own: the library and its two features.
  // Node's option `detached` of a process and the flag DETACHED_PROCESS of Windows are other things.
  'detached runs': {
    word: /detached(?!: (?:true|process\b)|_PROCESS)/i,
    folders: [
      'apps/wins-server/src/features/detached/',
      'apps/wins-server/src/features/runs/',
      'libs/process-manager/',
    ],
  },
};

const isSpec = ({ file }) => file.endsWith('spec.ts');
/** Whether a file only serves specs, not a program. */
const isTesting = ({ file }) => /\/testing\/|^apps\/wins-e2e\//.test(file);
const source = files.filter((one) => !isSpec(one) && !isTesting(one));
/** A file directly in `src` of a library is the face of the whole library, and in no folder. */
const isInFolder = ({ file }) => !/^libs\/[^/]+\/src\/[^/]+$/.test(file);
const filesOfFolders = new Map();
for (const { file } of files.filter((one) => !isSpec(one))) {
  const folder = path.dirname(file);
  filesOfFolders.set(folder, (filesOfFolders.get(folder) ?? 0) + 1);
}

if (process.argv.includes('--check')) {
  const problems = [
    ...findCircles(root, files).map((circle) => `files import each other: ${circle.join(' -> ')}`),
    ...findCircles(root, source.filter(isInFolder), folderOf).map(
      (circle) => `folders import each other: ${circle.join(' -> ')}`,
    ),
  ];
  for (const [folder, count] of filesOfFolders)
    if (count > MOST_FILES)
      problems.push(`${folder}: found ${count} files; wanted at most ${MOST_FILES}`);
  for (const [name, count] of knownOutside())
    if (count > MOST_KNOWING)
      problems.push(`${name}: ${count} files outside its folders know it; wanted ${MOST_KNOWING}`);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
} else {
  console.table(figures());
  console.table(Object.fromEntries(knownOutside()));
}

/** Returns the figures of each package, by its folder. */
function figures() {
  const projects = [...new Set(files.map(({ project }) => project))].sort();
  const figuresOf = new Map(files.map(({ file, text }) => [file, sizeOf(file, text)]));
  const sum = (some, figure) =>
    some.reduce((all, { file }) => all + (figuresOf.get(file)?.[figure] ?? 0), 0);
  const of = (some) => {
    const own = some.filter((one) => source.includes(one));
    const tokens = sum(own, 'tokens');
    const inSpecs = sum(some, 'tokens') - tokens;
    return { tokens, inSpecs, types: sum(own, 'types'), imports: sum(own, 'imports') };
  };
  const rows = projects.map((project) => {
    const own = files.filter((one) => one.project === project);
    return [project, { ...of(own), ...exportsOf(project) }];
  });
  return { ...Object.fromEntries(rows), all: of(files) };
}

/** Tokens without comments, declared types, and imports. Lines would count the layout. */
function sizeOf(file, text) {
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const size = { tokens: 0, types: 0, imports: 0 };
  const visit = (node) => {
    if (ts.isJSDoc(node)) return;
    if (TYPES.has(node.kind)) size.types += 1;
    if (ts.isImportDeclaration(node)) size.imports += 1;
    const children = node.getChildren(parsed);
    if (children.length === 0 && node.getWidth(parsed) > 0) size.tokens += 1;
    for (const child of children) visit(child);
  };
  visit(parsed);
  return size;
}

/** Counts the files of products outside its folders that name a feature. @returns {readonly (readonly [feature: string, files: number])[]} */
function knownOutside() {
  return Object.entries(FEATURES).map(([name, { word, folders }]) => {
    const outside = source.filter(
      ({ file, text }) => !folders.some((folder) => file.startsWith(folder)) && word.test(text),
    );
    return [name, outside.length];
  });
}

/** Applications have none. */
function exportsOf(project) {
  const report = `etc/${path.basename(project)}.api.md`;
  if (!existsSync(path.join(root, report))) return {};
  const names = read(report).matchAll(
    /^export (?:\{ (?:\w+ as )?|(?:abstract )?(?:class|const|enum|function|interface|namespace|type) )(\w+)/gm,
  );
  return { exports: new Set(Array.from(names, ([, name]) => name)).size };
}

// node tools/api-reports.mjs [--check]
// Writes etc/<library>.api.md with API Extractor: the exports of each library's main entry point, from the declarations in dist/. A review then shows
// changes to the public API. With --check it writes nothing, and fails when a committed report differs. It always fails when a public name uses a
// type that is not exported, or has no doc comment. Members need none, because a name may say all. It also fails for
// - a function that takes a signal as an argument: a caller passes it in the options, which are the last argument. A callback gets its signal as the
//   library passes it.
// - an optional member that does not accept `undefined` (ADR 75),
// - a callback `onEvent` that returns `void`: an async callback fits that type, and its rejection would end the process. A library calls a callback
//   that returns `unknown` by `reporter` of @wins/base.
// - a type with `close()` or `release()` that `using` does not accept.
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
} from '@microsoft/api-extractor';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';

const root = path.resolve(import.meta.dirname, '..');
const reports = path.join(root, 'etc');
const { Error: ERROR, None: NONE, Warning: WARNING } = ExtractorLogLevel;
const isCheck = process.argv[2] === '--check';
const libraries = readdirSync(path.join(root, 'libs')).sort();
const temporary = mkdtempSync(path.join(tmpdir(), 'wins-api-reports-'));

const problems = [];
try {
  mkdirSync(reports, { recursive: true });
  for (const library of libraries.filter((each) => !existsSync(entryPoint(each))))
    problems.push(`libs/${library} is not built: npm run build`);
  const built = libraries.filter((each) => existsSync(entryPoint(each)));
  const configs = built.map(configOf);
  // One program for all libraries, because separate programs would each parse the types of Node and other libraries again.
  const compilerState = CompilerState.create(configs[0], {
    additionalEntryPoints: built.slice(1).map(entryPoint),
  });
  for (const [index, library] of built.entries()) report(library, configs[index], compilerState);
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
/** Types that the importer implements for the library, so that each further member would be work for the importer. */
const IMPLEMENTED_BY_IMPORTERS = ['DiskClaim', 'OctetAccount', 'TreeLog', 'UdpTurns'];
for (const library of libraries.filter((each) => existsSync(reportOf(each)))) {
  const text = readFileSync(reportOf(library), 'utf8');
  for (const line of text.split('\n'))
    if (/\w\??: AbortSignal(?: \| undefined)?[,)]/.test(line) && !isCallback(line))
      problems.push(`libs/${library}: the signal belongs in the options: ${line.trim()}`);
  const declarations = text.split('```')[1]?.replace(/^ts/, '') ?? '';
  check(library, ts.createSourceFile('report.ts', declarations, ts.ScriptTarget.Latest, true));
}
const wanted = new Set(libraries.map((library) => `${library}.api.md`));
for (const name of readdirSync(reports).filter((one) => !wanted.has(one))) {
  if (isCheck) problems.push(`etc/${name} belongs to no library; run npm run generate`);
  else rmSync(path.join(reports, name));
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function reportOf(library) {
  return path.join(reports, `${library}.api.md`);
}

/** A function that users of the library write: a type, or a property of options. */
function isCallback(line) {
  return /^(?:export type|\s+readonly \w+\??:) .*=>/.test(line);
}

function check(library, node) {
  const isMember = ts.isPropertySignature(node) || ts.isPropertyDeclaration(node);
  const type = isMember && node.questionToken ? node.type?.getText() : undefined;
  if (type !== undefined && !/\| undefined$|^unknown$/.test(type))
    problems.push(`libs/${library}: add "| undefined" to ${node.getText()}`);
  if (isCallbackOfVoid(node))
    problems.push(
      `libs/${library}: return unknown instead of void, and call it by reporter of @wins/base: ${node.getText()}`,
    );
  if (ts.isIdentifier(node) && node.text === 'Partial')
    problems.push(`libs/${library}: use Optional of @wins/base: ${node.parent.getText()}`);
  const isType = ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node);
  const name = isType ? (node.name?.text ?? '') : '';
  if (isType && !IMPLEMENTED_BY_IMPORTERS.includes(name) && isKeptOpen(node))
    problems.push(`libs/${library}: ${name} is not Disposable or AsyncDisposable`);
  ts.forEachChild(node, (child) => check(library, child));
}

/** True for a member or a parameter such as `onEvent?: ((event: Event) => void) | undefined`. */
function isCallbackOfVoid(node) {
  const { name, type } = node;
  if (type === undefined || name === undefined || !/^on[A-Z]/.test(name.getText())) return false;
  if (ts.isMethodSignature(node)) return type.kind === ts.SyntaxKind.VoidKeyword;
  const parts = ts.isUnionTypeNode(type) ? type.types : [type];
  return parts
    .map((part) => (ts.isParenthesizedTypeNode(part) ? part.type : part))
    .some((part) => ts.isFunctionTypeNode(part) && part.type.kind === ts.SyntaxKind.VoidKeyword);
}

/** True for a type that its user must close, but not with `using`. */
function isKeptOpen(type) {
  const nameOf = ({ name }) => name?.getText();
  const closing = type.members.find((one) => ['close', 'release'].includes(nameOf(one)));
  const isClosed = closing?.parameters?.every((one) => one.questionToken !== undefined) ?? false;
  const bases = type.heritageClauses?.map((clause) => clause.getText()).join() ?? '';
  const isDisposable = /Disposable|Duplex/.test(bases);
  return isClosed && !isDisposable && !type.members.some((one) => /ispose\]$/.test(nameOf(one)));
}

function entryPoint(library) {
  return path.join(root, 'libs', library, 'dist/index.d.ts');
}

function configOf(library) {
  const projectFolder = path.join(root, 'libs', library);
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: path.join(projectFolder, 'package.json'),
    configObject: {
      newlineKind: 'lf',
      projectFolder,
      mainEntryPointFilePath: entryPoint(library),
      compiler: {
        // An empty `customConditions` resolves other libraries to their built form instead of their sources.
        overrideTsconfig: {
          extends: path.join(root, 'tsconfig.base.json'),
          compilerOptions: {
            customConditions: [],
            typeRoots: [path.join(root, 'node_modules/@types')],
          },
          files: [entryPoint(library)],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${library}.api.md`,
        reportFolder: reports,
        reportTempFolder: temporary,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ERROR } },
        extractorMessageReporting: {
          default: { logLevel: NONE },
          'ae-forgotten-export': { logLevel: ERROR },
          'ae-undocumented': { logLevel: WARNING },
        },
        tsdocMessageReporting: { default: { logLevel: NONE } },
      },
    },
  });
}

function report(library, config, compilerState) {
  const { apiReportChanged } = Extractor.invoke(config, {
    compilerState,
    localBuild: !isCheck,
    // Reports only errors and missing comments: other messages concern API Extractor's own files.
    messageCallback: (message) => {
      message.handled = true;
      if (message.logLevel === 'error') problems.push(`libs/${library}: ${message.text}`);
      if (message.messageId === 'ae-undocumented' && isTopLevel(message))
        problems.push(`${sourceOf(message)}: ${message.text}`);
    },
  });
  if (isCheck && apiReportChanged)
    problems.push(
      `etc/${library}.api.md is outdated; run npm run generate and review the difference`,
    );
}

/** Members are indented in the declarations that the compiler writes. */
function isTopLevel({ sourceFilePath, sourceFileLine }) {
  const line = readFileSync(sourceFilePath, 'utf8').split('\n')[sourceFileLine - 1];
  return /^\S/.test(line);
}

function sourceOf({ sourceFilePath }) {
  const file = path.relative(root, sourceFilePath).split(path.sep).join('/');
  return file.replace('/dist/', '/src/').replace(/\.d\.ts$/, '.ts');
}

// Prepares a built library for publishing. The library's own package.json serves only this repository: it points to sources, and is private so
// that nobody publishes it by mistake.
import { buildSync } from 'esbuild';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');
export const libraries = readdirSync(path.join(root, 'libs')).sort();

const { author, engines, license } = readJson(path.join(root, 'package.json'));
/** Fields of a manifest that only matter in this repository. */
const OURS = ['private', 'nx', 'devDependencies', 'main', 'types', 'exports', 'files'];

const REQUIRE = 'requireAtFirstUse';
/**
 * Replaces `require` in ES modules. The function evaluates `import.meta.url` only when called. In a CommonJS bundle without
 * `import.meta.url`, it uses `__filename`. webpack would bundle the native code if it saw the bare name `createRequire`.
 */
const REQUIRE_IN_ES_MODULES = `import nodeModule from "node:module";
function ${REQUIRE}(name) {
  return nodeModule.createRequire(import.meta.url ?? __filename)(name);
}
`;

/**
 * @param {string} name - Folder of the library in libs/.
 * @param {string} parent - Gets the package as a folder with this name.
 * @param {string} [repository] - Web address of the repository, without `.git`.
 * @returns Folder of the package.
 * @throws Error when the library is not built.
 */
export function stageLibrary(name, parent, repository) {
  const folder = path.join(root, 'libs', name);
  const stage = path.join(parent, name);
  rmSync(stage, { recursive: true, force: true });
  const modules = modulesOf(folder);
  for (const module of modules) placeCommonJs(folder, stage, module);
  placeEsModules(folder, stage, modules);
  const manifest = readJson(path.join(folder, 'package.json'));
  writeJson(path.join(stage, 'package.json'), published(manifest, name, repository));
  // Bundlers read `sideEffects` from the nearest package.json.
  writeJson(path.join(stage, 'cjs/package.json'), { type: 'commonjs', sideEffects: false });
  const readme = readFileSync(path.join(folder, 'README.md'), 'utf8');
  writeFileSync(path.join(stage, 'README.md'), withWholeLinks(readme, name, repository));
  for (const more of manifest.files ?? [])
    cpSync(path.join(folder, more), path.join(stage, more), { recursive: true });
  cpSync(path.join(root, 'LICENSE'), path.join(stage, 'LICENSE'));
  return stage;
}

/** Makes relative links absolute, because an installed package has no repository around it. */
function withWholeLinks(text, name, repository) {
  if (repository === undefined) return text;
  const page = (link) => `${repository}/blob/HEAD/${path.posix.join('libs', name, link)}`;
  return text.replace(/\]\((\.\.[^)]*)\)/g, (_, link) => `](${page(link)})`);
}

/** Returns paths below src/: modules without extension, and JSON files. */
function modulesOf(folder) {
  const built = readdirSync(path.join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|json)$/.test(file))
    .map((file) => file.replace(/\.ts$/, ''))
    .filter((module) => existsSync(path.join(folder, 'dist', fileOf(module, '.js'))));
  if (!built.includes('index')) throw new Error(`${folder} is not built; run npm run build`);
  return built;
}

const fileOf = (module, end) => (module.endsWith('.json') ? module : module + end);

function placeCommonJs(folder, stage, module) {
  for (const file of new Set([fileOf(module, '.js'), fileOf(module, '.d.ts')]))
    cpSync(path.join(folder, 'dist', file), path.join(stage, 'cjs', file));
}

/** Translates all modules in one call, because esbuild starts a process for each. */
function placeEsModules(folder, stage, modules) {
  const [source, target] = [path.join(folder, 'src'), path.join(stage, 'esm')];
  for (const types of modules.map((module) => fileOf(module, '.d.ts')))
    cpSync(path.join(folder, 'dist', types), path.join(target, types));
  const { outputFiles } = buildSync({
    entryPoints: modules
      .filter((module) => !module.endsWith('.json'))
      .map((module) => path.join(source, `${module}.ts`)),
    outbase: source,
    outdir: target,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    tsconfigRaw: {},
    // Replaces only the free identifier, not members or text.
    define: { require: REQUIRE },
  });
  for (const { path: file, text } of outputFiles) {
    const withJson = text.replace(/( from "[^"]+\.json");/g, '$1 with { type: "json" };');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text.includes(REQUIRE) ? withJson + REQUIRE_IN_ES_MODULES : withJson);
  }
}

function published(manifest, name, repository) {
  const doors = Object.entries(manifest.exports).map(([door, to]) => [
    door,
    typeof to === 'string' ? to : conditionsOf(to['@wins/source']),
  ]);
  return {
    ...Object.fromEntries(Object.entries(manifest).filter(([key]) => !OURS.includes(key))),
    author,
    license,
    engines,
    ...(repository && {
      repository: { type: 'git', url: `git+${repository}.git`, directory: `libs/${name}` },
      homepage: `${repository}/tree/HEAD/libs/${name}#readme`,
      bugs: `${repository}/issues`,
    }),
    type: 'module',
    main: './cjs/index.js',
    module: './esm/index.js',
    types: './cjs/index.d.ts',
    exports: Object.fromEntries(doors),
    files: ['cjs', 'esm', ...(manifest.files ?? [])],
    publishConfig: { access: 'public', provenance: true },
  };
}

/**
 * Node 20.19 and later use `module-sync` for import and require; bundlers use `module` for both. A program therefore has only one copy of a class.
 */
function conditionsOf(source) {
  const module = source.replace('./src/', '').replace(/\.ts$/, '');
  return {
    'module-sync': { types: `./esm/${module}.d.ts`, default: `./esm/${module}.js` },
    module: `./esm/${module}.js`,
    import: { types: `./esm/${module}.d.ts`, default: `./esm/${module}.js` },
    default: { types: `./cjs/${module}.d.ts`, default: `./cjs/${module}.js` },
  };
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

// node tools/libraries/build-examples.mjs PROJECT [--install]
// Builds each example of examples/libraries and examples/cookbook in each form that users run: PROJECT/built/FORM/NAME. PROJECT/node_modules must
// contain the packages; --install puts them there without a registry, including those for Windows. docs/libraries.md lists the options of bundlers.
import { build, transformSync } from 'esbuild';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rollup } from 'rollup';
import webpack from 'webpack';
import { runNpm } from '../windows/npm.mjs';
import { root } from './stage-library.mjs';

const {
  positionals: [folder = '.'],
  values: { install },
} = parseArgs({ allowPositionals: true, options: { install: { type: 'boolean' } } });
const project = path.resolve(folder);
const into = (form) => path.join(project, 'built', form);
const sources = ['examples/libraries', 'examples/cookbook'].flatMap((examples) =>
  readdirSync(path.join(root, examples)).map((file) => path.join(root, examples, file)),
);
const names = sources.map((file) => path.basename(file, '.ts'));
const programs = (form, end) =>
  Object.fromEntries(names.map((name) => [name, path.join(into(form), name + end)]));

if (install) {
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project, { recursive: true });
  writeFileSync(path.join(project, 'package.json'), '{ "private": true }');
  const tool = path.join(root, 'tools/libraries/pack-libraries.mjs');
  const args = [tool, '--bundle', '--out', project];
  const printed = execFileSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const archive = path.basename(printed.trim().split('\n').at(-1) ?? '');
  execFileSync('tar', ['-xf', archive], { cwd: project });
  const packages = path.basename(archive, '.tar');
  const files = readdirSync(path.join(project, packages)).map((file) => `./${packages}/${file}`);
  const system = ['--os=win32', '--cpu=x64', '--offline', '--ignore-scripts', '--no-audit'];
  runNpm(['install', ...system, ...files], { cwd: project, stdio: 'ignore' });
  // Native code lies beside bundles, never in them.
  const native = path.join(project, 'node_modules/koffi');
  cpSync(native, path.join(project, 'built/node_modules/koffi'), { recursive: true });
  // Packages contain those that only they need. Bundles of rollup import these, in the versions that npm would install.
  const wins = path.join(project, 'node_modules/@wins');
  for (const library of readdirSync(wins)) {
    const packages = path.join(wins, library, 'node_modules');
    if (existsSync(packages))
      cpSync(packages, path.join(into('rollup'), 'node_modules'), { recursive: true });
  }
}

for (const form of ['es-module', 'commonjs']) mkdirSync(into(form), { recursive: true });
for (const file of sources) {
  const name = path.basename(file, '.ts');
  const source = readFileSync(file, 'utf8');
  const compiled = (text, format) =>
    transformSync(text, { loader: 'ts', format, platform: 'node', target: 'node20.19' }).code;
  writeFileSync(path.join(into('es-module'), `${name}.mjs`), compiled(source, 'esm'));
  // CommonJS has no top-level await, so the code after the imports is wrapped in a function.
  const [, imports, rest] = /^((?:\/\/[^\n]*\n|import[^;]+;\n)+)(.+)$/s.exec(source) ?? [];
  if (imports === undefined) throw new Error(`${file} does not begin with its imports`);
  const inFunction = `${imports}void (async () => {\n${rest}})();\n`;
  writeFileSync(path.join(into('commonjs'), `${name}.cjs`), compiled(inFunction, 'cjs'));
}

// Third-party packages in CommonJS call `require`, which an ES module lacks.
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";
const bundle = /** @type {const} */ ({
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  logLevel: 'error',
});

await build({
  ...bundle,
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  banner: { js: REQUIRE },
  entryPoints: programs('es-module', '.mjs'),
  outdir: into('esbuild-esm'),
});
await build({
  ...bundle,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  entryPoints: programs('commonjs', '.cjs'),
  outdir: into('esbuild-cjs'),
});

const rolled = await rollup({
  input: programs('es-module', '.mjs'),
  // Does the work of @rollup/plugin-node-resolve and plugin-json. Third-party packages stay outside the bundle.
  plugins: [
    {
      name: 'packages-of-wins',
      resolveId(id, importer) {
        if (path.isAbsolute(id) || id.startsWith('.')) return null;
        if (!id.startsWith('@wins/')) return { id, external: true };
        return createRequire(importer ?? project).resolve(id);
      },
      load: (id) =>
        id.endsWith('.json') ? `export default ${readFileSync(id, 'utf8')};` : undefined,
    },
  ],
});
await rolled.write({
  dir: into('rollup'),
  format: 'es',
  entryFileNames: '[name].mjs',
  chunkFileNames: 'shared-[hash].mjs',
});

await new Promise((resolve, reject) =>
  webpack(
    {
      mode: 'production',
      target: 'node20',
      context: project,
      entry: programs('es-module', '.mjs'),
      output: { path: into('webpack'), filename: '[name].cjs', library: { type: 'commonjs2' } },
      optimization: { minimize: false },
    },
    (error, stats) => {
      if (error) reject(error);
      else if (stats?.hasErrors()) reject(new Error(stats.toString({ all: false, errors: true })));
      else resolve(undefined);
    },
  ),
);

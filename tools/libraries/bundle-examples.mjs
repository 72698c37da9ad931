// node tools/libraries/bundle-examples.mjs PROJECT
// Bundles the programs PROJECT/built-nodenext/examples/*.mjs and *.cjs, which import packages of PROJECT/node_modules, by the bundlers
// that people use: PROJECT/bundled/BUNDLER/NAME. docs/libraries.md has the options that each needs.
import { build } from 'esbuild';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { rollup } from 'rollup';
import webpack from 'webpack';

const project = path.resolve(process.argv[2] ?? '.');
const folder = path.join(project, 'built-nodenext/examples');
const into = (bundler) => path.join(project, 'bundled', bundler);
/** The programs of one module system, each by its name. */
const programs = (end) =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((file) => file.endsWith(end))
      .map((file) => [path.basename(file, end), path.join(folder, file)]),
  );

// Parts of other packages are CommonJS, and call `require` where a bundle has none.
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";
const bundle = { bundle: true, platform: 'node', target: 'node20.19', logLevel: 'error' };
const asEsModules = { ...bundle, format: 'esm', outExtension: { '.js': '.mjs' } };
const asCommonJs = { ...bundle, format: 'cjs', outExtension: { '.js': '.cjs' } };

await build({
  ...asEsModules,
  banner: { js: REQUIRE },
  entryPoints: programs('.mjs'),
  outdir: into('esbuild-esm'),
});
await build({ ...asCommonJs, entryPoints: programs('.cjs'), outdir: into('esbuild-cjs') });

const bundled = await rollup({
  input: programs('.mjs'),
  // What @rollup/plugin-node-resolve does; packages of others stay outside.
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
await bundled.write({
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
      entry: programs('.mjs'),
      output: { path: into('webpack'), filename: '[name].cjs', library: { type: 'commonjs2' } },
      optimization: { minimize: false },
    },
    (error, stats) => {
      if (error) reject(error);
      else if (stats.hasErrors()) reject(new Error(stats.toString({ all: false, errors: true })));
      else resolve(undefined);
    },
  ),
);

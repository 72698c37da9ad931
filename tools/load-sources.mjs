import { build } from 'esbuild';
import { createRequire } from 'node:module';
import path from 'node:path';
import { compileFunction } from 'node:vm';

const root = path.resolve(import.meta.dirname, '..');

/**
 * Loads TypeScript sources as one module, without a build.
 *
 * @param {string} contents - TypeScript that exports the wanted names.
 * @param {string} folder - Folder from which its imports are resolved, relative to the root.
 * @param {Readonly<Record<string, unknown>>} [names] - Values of names that the sources use freely, instead of the global ones.
 * @returns {Promise<any>} Exports of the module.
 */
export async function loadSources(contents, folder, names = {}) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: path.join(root, folder), loader: 'ts' },
    absWorkingDir: root,
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    conditions: ['@wins/source'],
    external: ['koffi', './wins*.cjs'],
    define: {
      BUILD_VERSION: '""',
      BUILD_COMMIT: '""',
      'process.env.WS_NO_BUFFER_UTIL': '"1"',
    },
    logLevel: 'warning',
  });
  const module = { exports: {} };
  const all = {
    module,
    exports: module.exports,
    require: createRequire(import.meta.url),
    ...names,
  };
  const run = compileFunction(outputFiles.map(({ text }) => text).join(''), Object.keys(all));
  run(...Object.values(all));
  return module.exports;
}

import { build } from 'esbuild';
import { createRequire } from 'node:module';
import path from 'node:path';
import { compileFunction } from 'node:vm';

const root = path.resolve(import.meta.dirname, '..');

/**
 * Loads sources of the repository as one module: nothing need be built.
 *
 * @param {string} contents - TypeScript that exports what is wanted of them.
 * @param {string} folder - Where its imports begin, from the root.
 * @returns {Promise<any>} Its exports.
 */
export async function loadSources(contents, folder) {
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
  const names = ['module', 'exports', 'require'];
  const run = compileFunction(outputFiles.map(({ text }) => text).join(''), names);
  run(module, module.exports, createRequire(import.meta.url));
  return module.exports;
}

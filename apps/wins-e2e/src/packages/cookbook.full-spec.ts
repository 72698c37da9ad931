import { buildSync } from 'esbuild';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { testCookbook } from '../testing/packages/test-cookbook.js';
import { ROOT } from '../testing/workspace.js';

/** Inside of the checkout, so that the bundles find koffi. */
const BUNDLES = path.join(ROOT, 'dist/cookbook');
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";

describe('the cookbook, bundled from the sources,', () => {
  beforeAll(() => {
    const folder = path.join(ROOT, 'examples/cookbook');
    rmSync(BUNDLES, { recursive: true, force: true });
    buildSync({
      entryPoints: readdirSync(folder).map((file) => path.join(folder, file)),
      outdir: BUNDLES,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      conditions: ['@wins/source'],
      external: ['koffi'],
      banner: { js: REQUIRE },
      logLevel: 'error',
    });
  });

  testCookbook((name) => path.join(BUNDLES, `${name}.mjs`));
});

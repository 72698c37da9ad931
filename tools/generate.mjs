// npm run generate
// Refreshes all that is generated from the sources and committed: project references, what tools/suite/generators.mjs lists, figures, and
// the format. `npm run check` compares the same things.
import { binOf, buildLibraries, check, checks, nx } from './suite/checks.mjs';
import { GENERATORS } from './suite/generators.mjs';
import { printReport } from './suite/report.mjs';

await check('project references', [nx, 'sync']);
for (const { title, args } of GENERATORS) {
  // What comes after the code of protos reads libraries as they were built.
  if (title === 'public faces') await buildLibraries();
  await check(title, args);
}
await check('figures', ['tools/figures.mjs']);
const prettier = binOf('prettier', 'bin/prettier.cjs');
await check('format', [prettier, '--write', '--log-level=warn', '.']);
process.exitCode = printReport([checks]) ? 0 : 1;

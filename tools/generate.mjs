// npm run generate
// Regenerates all committed files that come from the sources: project references, and output of tools/suite/generators.mjs. Then formats all files.
// `npm run check` checks that nothing would change.
import { binOf, buildLibraries, check, checks, nx } from './suite/checks.mjs';
import { GENERATORS } from './suite/generators.mjs';
import { printReport } from './suite/report.mjs';

await check('project references', [nx, 'sync']);
for (const { title, args } of GENERATORS) {
  // Later generators read the built libraries.
  if (title === 'public faces') await buildLibraries();
  await check(title, args);
}
await check('format', [binOf('oxfmt', 'bin/oxfmt'), '.']);
process.exitCode = printReport([checks]) ? 0 : 1;

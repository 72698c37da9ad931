// npm test [-- JEST OPTIONS]
// Runs every test except the long ones. Then prints the failures and the total of all projects.
//
// The tests spend half of their time waiting, so the Windows suite runs in parallel with the others.
import { createRequire } from 'node:module';
import path from 'node:path';
import { prepare } from './prepare.mjs';
import { build, checks, nx } from './suite/checks.mjs';
import { runJestProjects } from './suite/jest-projects.mjs';
import { printReport } from './suite/report.mjs';
import { root, runShown } from './suite/run-shown.mjs';
import { runSuite } from './suite/run-suite.mjs';
import { missingForWine } from './windows/wine-root.mjs';

const ARGS = process.argv.slice(2);
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
/** Projects that Jest runs without Nx: Nx would first rebuild the programs while the Windows suite runs them. */
const OF_PROGRAMS = ['wins', 'wins-e2e'];

await build();

// In CI nothing may be skipped.
const isRequired = process.env.WINS_REQUIRE_WINDOWS === '1';
const hasWindows = missingForWine === undefined || process.platform === 'win32' || isRequired;
if (!hasWindows) checks.notes.push(`THE WINDOWS SUITE WAS SKIPPED: it needs ${missingForWine}`);
const onWindows = hasWindows
  ? runSuite('Windows suite', ['tools/windows/run-specs.mjs', '--built'], 'wins-windows', {
      isBeside: true,
    })
  : undefined;

// The end-to-end tests need the package and the stand-ins later. If the Windows suite runs, it builds both.
const packaging = hasWindows
  ? undefined
  : runShown(['tools/prepare.mjs', 'package', 'stand-ins'], { besideAs: 'package' });

const ofProjects = await runJestProjects([
  () => {
    const others = OF_PROGRAMS.map((name) => `@wins/${name}`).join();
    console.log('\n── tests');
    return runShown([
      ...[nx, 'run-many', '-t', 'test', '--outputStyle=static'],
      ...['--parallel=4', `--exclude=${others}`, ...ARGS],
    ]);
  },
  ...OF_PROGRAMS.map((name) => async () => {
    if (name === 'wins-e2e') {
      await packaging;
      prepare('package');
      prepare('stand-ins');
    }
    console.log(`\n── tests of apps/${name}`);
    return runShown([jest, ...ARGS], { cwd: path.join(root, 'apps', name) });
  }),
]);

const results = [checks, ...(onWindows === undefined ? [] : [await onWindows]), ...ofProjects];
process.exitCode = printReport(results) ? 0 : 1;

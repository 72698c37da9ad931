// npm run check
// What is judged without running it: format, lint and types; that what is generated or described is what the sources say; and what is made
// for npm, Helm and Prometheus. In two lanes, since a check uses one processor.
import { missing as missingForChart } from './chart/engine.mjs';
import { missing as missingForMonitoring } from './monitoring/prometheus-programs.mjs';
import { binOf, build, check, checks, nx, tsc } from './suite/checks.mjs';
import { printReport } from './suite/report.mjs';
import { runSuite } from './suite/run-suite.mjs';

// CI asks for it by this variable: there nothing may be skipped.
const isRequired = process.env.WINS_REQUIRE_WINDOWS === '1';
/** What makes large trees out of many files collects its garbage a quarter of its time otherwise. */
const YOUNG = '--max-semi-space-size=128';

await build();
const results = [checks];
await Promise.all([checkSources(), checkWhatIsBuilt()]);
process.exitCode = printReport(results) ? 0 : 1;

async function checkSources() {
  await beside('lock file', 'tools/check-lock.mjs');
  await beside('exports have users', 'tools/unused-exports.mjs');
  await beside('quoted tests', 'tools/check-quoted-tests.mjs');
  await beside('map of CONTRIBUTING.md', 'tools/check-map.mjs');
  await beside('scripts of PowerShell', 'tools/check-powershell.mjs');
  await beside('figures: circles, sizes of folders', 'tools/figures.mjs', '--check');
  await beside('circles, their check', '--test', 'tools/import-circles.test.mjs');
  await beside('generated code', 'tools/gen-proto.mjs', 'libs/wins-api', '--check');
  await beside('benchmark, its figures', '--test', 'tools/bench/bench.test.mjs');
  await beside('project references', nx, 'sync:check');
  const prettier = binOf('prettier', 'bin/prettier.cjs');
  await beside('format', YOUNG, prettier, '--check', '--log-level=warn', '.');
  // By one process, for the reason that libraries are built by one. A rule asks Nx for the projects.
  await beside('lint', YOUNG, binOf('eslint', 'bin/eslint.js'), 'libs', 'apps', 'tools');
}

async function checkWhatIsBuilt() {
  await beside('types', tsc, '--build', 'tsconfig.json', '--emitDeclarationOnly');
  await beside('public faces', 'tools/api-reports.mjs', '--check');
  await beside('config reference', 'tools/config-reference.mjs', '--check');
  await beside('metrics reference', 'tools/metrics-reference.mjs', '--check');
  await beside('command reference', 'tools/command-reference.mjs', '--check');
  await beside('packages', 'tools/libraries/check-packages.mjs');
  await beside('what imports cost', 'tools/libraries/size-table.mjs', '--check');
  await beside('manifests of examples/', 'tools/check-examples.mjs');
  await beside('names of metrics, their check', '--test', 'tools/monitoring/known-names.test.mjs');
  await beside('alerts and dashboard', 'tools/monitoring/check.mjs');
  if (missingForMonitoring !== undefined && !isRequired)
    checks.notes.push(
      `THE ALERTS AND THE DASHBOARD WERE NOT EVALUATED: it needs ${missingForMonitoring}`,
    );
  if (missingForChart === undefined || isRequired)
    results.push(
      await runSuite('chart', ['tools/chart/run-checks.mjs'], 'wins-chart', { isBeside: true }),
    );
  else checks.notes.push(`THE CHART WAS NOT CHECKED: it needs ${missingForChart}`);
}

function beside(title, ...args) {
  return check(title, args, { isBeside: true });
}

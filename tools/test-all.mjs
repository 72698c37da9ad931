// Everything CI runs, in the order that finds a mistake soonest; the last lines say what failed and the total of all
// projects' tests. A check that is not a test (format, lint, types, …) counts as one test each.
//
// The Windows suite waits half of its time, in its two lanes, and so do the end-to-end tests; format and lint are one process each. All of these run
// beside others.
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { missing as missingForChart } from './chart/engine.mjs';
import { prepare } from './prepare.mjs';
import { missing as missingForMonitoring } from './monitoring/prometheus-programs.mjs';
import { runJestProjects } from './suite/jest-projects.mjs';
import { emptyResult, printReport } from './suite/report.mjs';
import { root, runShown } from './suite/run-shown.mjs';
import { runSuite } from './suite/run-suite.mjs';
import { wine } from './windows/wine.mjs';

const ARGS = process.argv.slice(2);
const require = createRequire(import.meta.url);
const binOf = (name, file) =>
  path.join(path.dirname(require.resolve(`${name}/package.json`)), file);
const nx = require.resolve('nx/bin/nx.js');
const jest = require.resolve('jest/bin/jest');
const many = (target, ...more) => [nx, 'run-many', '-t', target, '--outputStyle=static', ...more];
/** What makes large trees out of many files collects its garbage a quarter of its time otherwise. */
const YOUNG = '--max-semi-space-size=128';
/** By Jest alone: Nx would place the programs anew before their own tests, while the Windows suite runs them. */
const OF_PROGRAMS = ['wins', 'wins-e2e'];

const results = [];
const ofChecks = emptyResult('checks');
results.push(ofChecks);

await check('lock file', 'tools/check-lock.mjs');
const formatting = runShown(
  [YOUNG, binOf('prettier', 'bin/prettier.cjs'), '--check', '--log-level=warn', '.'],
  { besideAs: 'format' },
);
await check('quoted tests', 'tools/check-quoted-tests.mjs');
await check('map of CONTRIBUTING.md', 'tools/check-map.mjs');
await check('scripts of PowerShell', 'tools/check-powershell.mjs');
await check('rules that can be counted', 'tools/figures.mjs', '--check');
await check('generated code', 'tools/gen-proto.mjs', 'libs/wins-api', '--check');
await check('benchmark, its figures', '--test', 'tools/bench/bench.test.mjs');
await check('project references', nx, 'sync:check');
// By one process, for the reason that lint is one: what each project builds then is there.
const libraries = filesOf('libs', 'tsconfig.lib.json');
await check('libraries', binOf('typescript', 'bin/tsc'), '--build', ...libraries);
await check('build', ...many('build'));

// One process for all projects: each of its own would read the types of all libraries again, which takes three times as long. Nx knows the
// projects by now, which a rule asks it for.
const linting = runShown([YOUNG, binOf('eslint', 'bin/eslint.js'), 'libs', 'apps', 'tools'], {
  besideAs: 'lint',
});

// CI asks for it by this variable: there nothing may be skipped.
const isRequired = process.env.WINS_REQUIRE_WINDOWS === '1';
const hasWindows = wine !== undefined || process.platform === 'win32' || isRequired;
if (!hasWindows)
  ofChecks.notes.push(
    'THE WINDOWS SUITE WAS SKIPPED: it needs Wine (Debian: apt-get install wine wine64)',
  );
const onWindows = hasWindows
  ? runSuite('Windows suite', ['tools/windows/run-specs.mjs', '--built'], 'wins-windows', {
      isBeside: true,
    })
  : undefined;

// The end-to-end tests need it later. The Windows suite makes it too.
const packaging = hasWindows
  ? undefined
  : runShown(['tools/prepare.mjs', 'package'], { besideAs: 'package' });

const hasChart = missingForChart === undefined || isRequired;
if (!hasChart) ofChecks.notes.push(`THE CHART WAS NOT CHECKED: it needs ${missingForChart}`);
const onChart = hasChart
  ? runSuite('chart', ['tools/chart/run-checks.mjs'], 'wins-chart', { isBeside: true })
  : undefined;

// One process for all projects, for the reason that lint is: a quarter of the processor time.
await check(
  'typecheck',
  binOf('typescript', 'bin/tsc'),
  '--build',
  'tsconfig.json',
  '--emitDeclarationOnly',
);
await check('public faces', 'tools/api-reports.mjs', '--check');
await check('config reference', 'tools/config-reference.mjs', '--check');
await check('metrics reference', 'tools/metrics-reference.mjs', '--check');
await check('command reference', 'tools/command-reference.mjs', '--check');
await check('packages', 'tools/libraries/check-packages.mjs');
await check('what imports cost', 'tools/libraries/size-table.mjs', '--check');
await check('manifests of examples/', 'tools/check-examples.mjs');
await check('names of metrics, their check', '--test', 'tools/monitoring/known-names.test.mjs');
await check('alerts and dashboard', 'tools/monitoring/check.mjs');
if (missingForMonitoring !== undefined && !isRequired)
  ofChecks.notes.push(
    `THE ALERTS AND THE DASHBOARD WERE NOT EVALUATED: it needs ${missingForMonitoring}`,
  );

const ofProjects = await runJestProjects([
  () => {
    const others = OF_PROGRAMS.map((name) => `@wins/${name}`).join();
    return titled('tests', many('test', '--parallel=3', `--exclude=${others}`, ...ARGS));
  },
  ...OF_PROGRAMS.map((name) => async () => {
    if (name === 'wins-e2e') {
      await packaging;
      prepare('package');
    }
    console.log(`\n── tests of apps/${name}`);
    return runShown([jest, ...ARGS], { cwd: path.join(root, 'apps', name) });
  }),
]);
if (onWindows !== undefined) results.push(await onWindows);
results.push(...ofProjects);
if (onChart !== undefined) results.push(await onChart);

count('format', await formatting);
count('lint', await linting);

process.exitCode = printReport(results) ? 0 : 1;

/** A file of each folder that has it. */
function filesOf(folder, file) {
  return readdirSync(path.join(root, folder))
    .map((name) => path.join(folder, name, file))
    .filter((each) => existsSync(path.join(root, each)));
}

function titled(title, args) {
  console.log(`\n── ${title}`);
  return runShown(args);
}

async function check(title, ...args) {
  count(title, await titled(title, args));
}

function count(title, { isGreen, ending, printed }) {
  if (isGreen) ofChecks.passed += 1;
  else ofChecks.failures.push({ file: 'check', title, message: `${ending}\n${endOf(printed)}` });
}

function endOf(printed) {
  return printed.trimEnd().split('\n').slice(-14).join('\n');
}

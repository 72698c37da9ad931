// Everything CI runs; the last lines say what failed and the total of all projects' tests. A check that is not a test (format, lint, types, …)
// counts as one test each.
//
// The tests wait half of their time: for programs, for each other and, in the two lanes of the Windows suite, for Wine. The checks, which only
// compute, run beside them in two lanes, with what the tests leave of the processor.
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

// By one process, for the reason that types are checked by one: what each project builds then is there.
const libraries = filesOf('libs', 'tsconfig.lib.json');
await check('libraries', binOf('typescript', 'bin/tsc'), '--build', ...libraries);
await check('build', ...many('build'));

// CI asks for it by this variable: there nothing may be skipped.
const isRequired = process.env.WINS_REQUIRE_WINDOWS === '1';
const checking = Promise.all([checkSources(), checkWhatIsBuilt()]);
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
results.push(...ofProjects, ...(await checking).flat());

process.exitCode = printReport(results) ? 0 : 1;

/** Runs a check with what the tests leave of the processor. */
function beside(title, ...args) {
  return check(title, { besideAs: title, isPatient: true }, ...args);
}

async function checkSources() {
  // The longest first, by one process for the reason that types are. A rule asks Nx for the projects, which it knows since the build.
  await beside('lint', YOUNG, binOf('eslint', 'bin/eslint.js'), 'libs', 'apps', 'tools');
  await beside('project references', nx, 'sync:check');
  await beside('lock file', 'tools/check-lock.mjs');
  const prettier = binOf('prettier', 'bin/prettier.cjs');
  await beside('format', YOUNG, prettier, '--check', '--log-level=warn', '.');
  await beside('quoted tests', 'tools/check-quoted-tests.mjs');
  await beside('map of CONTRIBUTING.md', 'tools/check-map.mjs');
  await beside('scripts of PowerShell', 'tools/check-powershell.mjs');
  await beside('rules that can be counted', 'tools/figures.mjs', '--check');
  await beside('generated code', 'tools/gen-proto.mjs', 'libs/wins-api', '--check');
  await beside('benchmark, its figures', '--test', 'tools/bench/bench.test.mjs');
  return [];
}

/** Gives the result of the chart, which has tests of its own. */
async function checkWhatIsBuilt() {
  // One process for all projects: each of its own would read the types of all libraries again, which takes three times as long.
  const tsc = binOf('typescript', 'bin/tsc');
  await beside('typecheck', tsc, '--build', 'tsconfig.json', '--emitDeclarationOnly');
  await beside('public faces', 'tools/api-reports.mjs', '--check');
  await beside('config reference', 'tools/config-reference.mjs', '--check');
  await beside('metrics reference', 'tools/metrics-reference.mjs', '--check');
  await beside('command reference', 'tools/command-reference.mjs', '--check');
  await beside('packages', 'tools/libraries/check-packages.mjs');
  await beside('what imports cost', 'tools/libraries/size-table.mjs', '--check');
  await beside('manifests of examples/', 'tools/check-examples.mjs');
  await beside('names of metrics, their check', '--test', 'tools/monitoring/known-names.test.mjs');
  // Beside its load, a daemon is scraped at fixed times.
  const alerts = 'alerts and dashboard';
  await check(alerts, { besideAs: alerts }, 'tools/monitoring/check.mjs');
  if (missingForMonitoring !== undefined && !isRequired)
    ofChecks.notes.push(
      `THE ALERTS AND THE DASHBOARD WERE NOT EVALUATED: it needs ${missingForMonitoring}`,
    );
  if (missingForChart !== undefined && !isRequired) {
    ofChecks.notes.push(`THE CHART WAS NOT CHECKED: it needs ${missingForChart}`);
    return [];
  }
  const chart = ['tools/chart/run-checks.mjs'];
  const options = { isBeside: true, isPatient: true };
  return [await runSuite('chart', chart, 'wins-chart', options)];
}

/** A file of each folder that has it. */
function filesOf(folder, file) {
  return readdirSync(path.join(root, folder))
    .map((name) => path.join(folder, name, file))
    .filter((each) => existsSync(path.join(root, each)));
}

function titled(title, args, options) {
  if (options === undefined) console.log(`\n── ${title}`);
  return runShown(args, options);
}

async function check(title, ...args) {
  const options = typeof args[0] === 'object' ? args.shift() : undefined;
  count(title, await titled(title, args, options));
}

function count(title, { isGreen, ending, printed }) {
  if (isGreen) ofChecks.passed += 1;
  else ofChecks.failures.push({ file: 'check', title, message: `${ending}\n${endOf(printed)}` });
}

function endOf(printed) {
  return printed.trimEnd().split('\n').slice(-14).join('\n');
}

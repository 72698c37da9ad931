// Everything CI runs, in the order that finds a mistake soonest; the last lines say what failed and the total of all
// projects' tests. A check that is not a test (format, lint, types, …) counts as one test each.
//
// The Windows suite waits half of its time, in its two lanes, and lint is one process: both run beside the checks and the specs of the
// libraries. The end-to-end tests start programs that take the whole machine: what runs beside them gets what they leave.
import { createRequire } from 'node:module';
import path from 'node:path';
import { missing as missingForChart } from './chart/engine.mjs';
import { runJestProjects } from './suite/jest-projects.mjs';
import { emptyResult, printReport } from './suite/report.mjs';
import { runShown } from './suite/run-shown.mjs';
import { runSuite } from './suite/run-suite.mjs';
import { wine } from './windows/wine.mjs';

const ARGS = process.argv.slice(2);
const require = createRequire(import.meta.url);
const binOf = (name, file) =>
  path.join(path.dirname(require.resolve(`${name}/package.json`)), file);
const nx = require.resolve('nx/bin/nx.js');
const many = (target, ...more) => [nx, 'run-many', '-t', target, '--outputStyle=static', ...more];
const END_TO_END = '@wins/wins-e2e';
/** Nx places the programs anew before their own tests: nothing may run them then. */
const OF_PROGRAMS = [END_TO_END, '@wins/wins'].join();

const results = [];
const ofChecks = emptyResult('checks');
results.push(ofChecks);

await check('lock file', 'tools/check-lock.mjs');
await check('format', binOf('prettier', 'bin/prettier.cjs'), '--check', '--log-level=warn', '.');
await check('quoted tests', 'tools/check-quoted-tests.mjs');
await check('map of CONTRIBUTING.md', 'tools/check-map.mjs');
await check('rules that can be counted', 'tools/figures.mjs', '--check');
await check('generated code', 'tools/gen-proto.mjs', 'libs/wins-api', '--check');
await check('benchmark, its figures', '--test', 'tools/bench/bench.test.mjs');
await check('project references', nx, 'sync:check');
await check('build', ...many('build'));

// One process for all projects: each of its own would read the types of all libraries again, which takes three times as long. Nx knows the
// projects by now, which a rule asks it for.
const linting = runShown([binOf('eslint', 'bin/eslint.js'), 'libs', 'apps', 'tools'], {
  besideAs: 'lint',
  isLow: true,
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

await check('typecheck', ...many('typecheck'));
await check('public faces', 'tools/api-reports.mjs', '--check');
await check('config reference', 'tools/config-reference.mjs', '--check');
await check('metrics reference', 'tools/metrics-reference.mjs', '--check');
await check('command reference', 'tools/command-reference.mjs', '--check');
await check('packages', 'tools/libraries/check-packages.mjs');
await check('what imports cost', 'tools/libraries/size-table.mjs', '--check');
await check('manifests of examples/', 'tools/check-examples.mjs');

const ofProjects = await runJestProjects([
  () => titled('tests', many('test', '--parallel=2', `--exclude=${OF_PROGRAMS}`, ...ARGS)),
  async () => {
    if (onWindows !== undefined) results.push(await onWindows);
    return titled(
      'end-to-end tests',
      many('test', '--parallel=1', `--projects=${OF_PROGRAMS}`, ...ARGS),
    );
  },
]);
results.push(...ofProjects);

if (missingForChart === undefined || isRequired) {
  results.push(await runSuite('chart', ['tools/chart/run-checks.mjs'], 'wins-chart'));
} else {
  ofChecks.notes.push(`THE CHART WAS NOT CHECKED: it needs ${missingForChart}`);
}

count('lint', await linting);

process.exitCode = printReport(results) ? 0 : 1;

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

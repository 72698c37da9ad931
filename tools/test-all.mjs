// Everything CI runs, in the order that finds a mistake soonest; the last lines say what failed and the total of all
// projects' tests. A check that is not a test (format, lint, types, …) counts as one test each.
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
const nx = require.resolve('nx/bin/nx.js');
const prettier = path.join(
  path.dirname(require.resolve('prettier/package.json')),
  'bin/prettier.cjs',
);
const many = (target, ...more) => [nx, 'run-many', '-t', target, '--outputStyle=static', ...more];
const eslint = path.join(path.dirname(require.resolve('eslint/package.json')), 'bin/eslint.js');
const titled = (title, args) => {
  console.log(`\n── ${title}`);
  return runShown(args);
};

const checks = [
  ['lock file', 'tools/check-lock.mjs'],
  ['format', prettier, '--check', '--log-level=warn', '.'],
  ['quoted tests', 'tools/check-quoted-tests.mjs'],
  ['generated code', 'tools/gen-proto.mjs', 'libs/wins-api', '--check'],
  ['project references', nx, 'sync:check'],
  ['typecheck', ...many('typecheck')],
  ['build', ...many('build')],
  ['public faces', 'tools/api-reports.mjs', '--check'],
  ['config reference', 'tools/config-reference.mjs', '--check'],
  ['command reference', 'tools/command-reference.mjs', '--check'],
  ['packages', 'tools/libraries/check-packages.mjs'],
  ['what imports cost', 'tools/libraries/size-table.mjs', '--check'],
  ['map of CONTRIBUTING.md', 'tools/check-map.mjs'],
  ['manifests of examples/', 'tools/check-examples.mjs'],
];

const ofChecks = emptyResult('checks');
for (const [title, ...args] of checks) count(title, await titled(title, args));

/**
 * Beside all specs, which wait a lot. One process for all projects: each of its own would read the types of all libraries again, which
 * takes three times as long. Nx must know the projects before, since a rule asks it.
 */
const linting = runShown([eslint, 'libs', 'apps', 'tools'], { isBeside: true });

/** The end-to-end tests start programs that take the whole machine, in two workers: nothing else runs beside them. */
const END_TO_END = 'wins-e2e';
const ofProjects = await runJestProjects([
  () => titled('tests', many('test', '--parallel=2', `--exclude=${END_TO_END}`, ...ARGS)),
  () => titled('end-to-end tests', many('test', `--projects=${END_TO_END}`, ...ARGS)),
]);

// CI asks for it by this variable: there nothing may be skipped.
const isRequired = process.env.WINS_REQUIRE_WINDOWS === '1';
const results = [ofChecks, ...ofProjects];

if (missingForChart === undefined || isRequired) {
  results.push(await runSuite('chart', ['tools/chart/run-checks.mjs'], 'wins-chart'));
} else {
  ofChecks.notes.push(`THE CHART WAS NOT CHECKED: it needs ${missingForChart}`);
}
if (wine !== undefined || process.platform === 'win32' || isRequired) {
  results.push(await runSuite('Windows suite', ['tools/windows/run-specs.mjs'], 'wins-windows'));
} else {
  ofChecks.notes.push(
    'THE WINDOWS SUITE WAS SKIPPED: it needs Wine (Debian: apt-get install wine wine64)',
  );
}

console.log('\n── lint');
count('lint', await linting);

process.exitCode = printReport(results) ? 0 : 1;

function count(title, { isGreen, ending, printed }) {
  if (isGreen) ofChecks.passed += 1;
  else ofChecks.failures.push({ file: 'check', title, message: `${ending}\n${endOf(printed)}` });
}

function endOf(printed) {
  return printed.trimEnd().split('\n').slice(-14).join('\n');
}

// Everything CI runs, in the order that finds a mistake soonest; the last lines say what failed and the total of all
// projects' tests. A check that is not a test (format, lint, types, …) counts as one test each.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { missing as missingForChart } from './chart/engine.mjs';
import { runJestProjects } from './suite/jest-projects.mjs';
import { emptyResult, printReport } from './suite/report.mjs';
import { root, runShown } from './suite/run-shown.mjs';
import { wine } from './windows/wine.mjs';

const ARGS = process.argv.slice(2);
const require = createRequire(import.meta.url);
const nx = require.resolve('nx/bin/nx.js');
const prettier = path.join(
  path.dirname(require.resolve('prettier/package.json')),
  'bin/prettier.cjs',
);
const many = (target, ...more) => [nx, 'run-many', '-t', target, '--outputStyle=static', ...more];
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
  ['lint', ...many('lint')],
  ['typecheck', ...many('typecheck')],
  ['build', ...many('build')],
];

const ofChecks = emptyResult('checks');
for (const [title, ...args] of checks) {
  const { isGreen, ending, printed } = await titled(title, args);
  if (isGreen) ofChecks.passed += 1;
  else ofChecks.failures.push({ file: 'check', title, message: `${ending}\n${endOf(printed)}` });
}

/** The end-to-end tests start programs that take the whole machine, in two workers: nothing else runs beside them. */
const END_TO_END = 'wins-e2e';
const ofProjects = await runJestProjects([
  () => titled('tests', many('test', '--parallel=2', `--exclude=${END_TO_END}`, ...ARGS)),
  () => titled('end-to-end tests', many('test', `--projects=${END_TO_END}`, ...ARGS)),
]);

// CI asks for it by this variable: there nothing may be skipped.
const isRequired = process.env.WINS_REQUIRE_WINDOWS === '1';
const results = [ofChecks, ...ofProjects];
const skippedLoudly = [];

/** Runs a suite with a runner of its own, which leaves its result in a file. */
async function runSuite(suite, script, summaryFile) {
  const summary = path.join(root, 'node_modules/.cache', summaryFile);
  rmSync(summary, { force: true });
  const { isGreen, ending, printed } = await titled(suite, [script]);
  const result = emptyResult(suite);
  if (existsSync(summary)) Object.assign(result, JSON.parse(readFileSync(summary, 'utf8')));
  if (!isGreen && result.failures.length === 0)
    result.failures.push({ file: script, title: suite, message: `${ending}\n${endOf(printed)}` });
  results.push(result);
}

if (missingForChart === undefined || isRequired) {
  await runSuite('chart', 'tools/chart/run-checks.mjs', 'wins-chart/summary.json');
} else {
  skippedLoudly.push(`THE CHART WAS NOT CHECKED: it needs ${missingForChart}`);
}
if (wine !== undefined || process.platform === 'win32' || isRequired) {
  await runSuite('Windows suite', 'tools/windows/run-specs.mjs', 'wins-windows/summary.json');
} else {
  skippedLoudly.push(
    'THE WINDOWS SUITE WAS SKIPPED: it needs Wine (Debian: apt-get install wine wine64)',
  );
}

process.exitCode = printReport(results, skippedLoudly) ? 0 : 1;

function endOf(printed) {
  return printed.trimEnd().split('\n').slice(-14).join('\n');
}

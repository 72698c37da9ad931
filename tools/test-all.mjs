// Everything CI runs, in the order that finds a mistake soonest; the last line is the total of all
// projects' tests. A check that is not a test (format, lint, types, …) counts as one test each.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { missing as missingForChart } from './chart/engine.mjs';
import { wine } from './windows/wine.mjs';

const root = path.resolve(import.meta.dirname, '..');
const require = createRequire(import.meta.url);
const nx = require.resolve('nx/bin/nx.js');
const prettier = path.join(
  path.dirname(require.resolve('prettier/package.json')),
  'bin/prettier.cjs',
);

function run(title, ...args) {
  console.log(`\n── ${title}`);
  const result = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  return result.status === 0;
}
const many = (target, ...more) => [nx, 'run-many', '-t', target, '--outputStyle=static', ...more];

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

let passed = 0;
let failed = 0;
const failures = [];
for (const [title, ...args] of checks) {
  if (run(title, ...args)) passed += 1;
  else {
    failed += 1;
    failures.push(title);
  }
}

const projects = ['libs', 'apps']
  .flatMap((folder) => readdirSync(path.join(root, folder)).map((name) => path.join(folder, name)))
  .filter((project) => existsSync(path.join(root, project, 'jest.config.js')));
const summaryOf = (project) => path.join(root, project, 'test-output', 'summary.json');
for (const project of projects) rmSync(summaryOf(project), { force: true });

const testsGreen = run('tests', ...many('test', '--parallel=2', ...process.argv.slice(2)));
let testsFailed = 0;
for (const project of projects) {
  if (!existsSync(summaryOf(project))) {
    testsFailed += 1;
    failures.push(`${project}: no test summary`);
    continue;
  }
  const summary = JSON.parse(readFileSync(summaryOf(project), 'utf8'));
  passed += summary.passed;
  testsFailed += summary.failed;
  if (summary.failed > 0) failures.push(`${project}: ${summary.failed} failed`);
  if (summary.skipped > 0) console.log(`${project}: ${summary.skipped} SKIPPED`);
}
if (!testsGreen && testsFailed === 0) {
  testsFailed = 1;
  failures.push('tests: the runner failed');
}
failed += testsFailed;

// CI asks for it by this variable: there nothing may be skipped.
const isRequired = process.env.WINS_REQUIRE_WINDOWS === '1';
const skippedLoudly = [];

/** Runs a suite with a runner of its own, which leaves its counts in a file. */
function runSuite(title, script, summaryFile) {
  const summary = path.join(root, 'node_modules/.cache', summaryFile);
  rmSync(summary, { force: true });
  const green = run(title, script);
  const counts = existsSync(summary) ? JSON.parse(readFileSync(summary, 'utf8')) : {};
  passed += counts.passed ?? 0;
  const bad = green ? 0 : Math.max(counts.failed ?? 0, 1);
  failed += bad;
  if (bad > 0) failures.push(`${title}: ${bad} failed`);
}

if (missingForChart === undefined || isRequired) {
  runSuite('chart', 'tools/chart/run-checks.mjs', 'wins-chart/summary.json');
} else {
  skippedLoudly.push(`THE CHART WAS NOT CHECKED: it needs ${missingForChart}`);
}
if (wine !== undefined || process.platform === 'win32' || isRequired) {
  runSuite('Windows suite', 'tools/windows/run-specs.mjs', 'wins-windows/summary.json');
} else {
  skippedLoudly.push(
    'THE WINDOWS SUITE WAS SKIPPED: it needs Wine (Debian: apt-get install wine wine64)',
  );
}

for (const line of skippedLoudly) console.log(`\n${line}`);
if (failures.length > 0) console.log(`\nfailed: ${failures.join('; ')}`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

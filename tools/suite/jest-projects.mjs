// The specs of all projects, which run in Jest; Nx runs them, and keeps what passed.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { emptyResult } from './report.mjs';
import { root, runShown } from './run-shown.mjs';
import { trySecondTime } from './second-try.mjs';

const require = createRequire(import.meta.url);
const jest = require.resolve('jest/bin/jest');

const projects = ['libs', 'apps']
  .flatMap((folder) => readdirSync(path.join(root, folder)).map((name) => path.join(folder, name)))
  .filter((project) => existsSync(path.join(root, project, 'jest.config.js')));
const summaryOf = (project) => path.join(root, project, 'test-output', 'summary.json');

/**
 * Runs the specs of all projects.
 *
 * @param runs - Run the projects, one after the other, and say how that ended; each project leaves its summary.
 * @returns One result for each project.
 */
export async function runJestProjects(runs) {
  for (const project of projects) rmSync(summaryOf(project), { force: true });
  const endings = [];
  for (const run of runs) endings.push(await run());
  const results = [];
  for (const project of projects) {
    const result = emptyResult(project);
    results.push(result);
    const summary = readSummary(summaryOf(project));
    if (summary === undefined) {
      const message = 'it left no summary: see the runner of the specs below';
      fail(result, 'no spec has run', message);
      continue;
    }
    result.passed = summary.passed;
    result.skipped = summary.skipped;
    result.files = summary.files.map((file) => ({ ...file, file: path.join(project, file.file) }));
    const failures = [...summary.failures, ...unfinished(project, summary)];
    const second = await trySecondTime(failures, summary.files, (file) => runAlone(project, file));
    result.passed += second.passed;
    for (const key of ['failures', 'unsteady'])
      result[key] = second[key].map((test) => ({ ...test, file: path.join(project, test.file) }));
  }
  const isExplained =
    results.every(({ files }) => files.length > 0) &&
    results.some(({ failures, unsteady }) => failures.length + unsteady.length > 0);
  if (!isExplained)
    for (const { ending, printed } of endings.filter((one) => !one.isGreen)) {
      const runner = emptyResult('the runner of the specs');
      fail(runner, ending, printed.split('\n').slice(-12).join('\n'));
      results.push(runner);
    }
  return results;
}

/** The specs of a run whose process died before they had ended. */
function unfinished(project, { isComplete, files }) {
  if (isComplete) return [];
  const ended = new Set(files.map(({ file }) => file));
  const options = { cwd: path.join(root, project), encoding: 'utf8' };
  return execFileSync(process.execPath, [jest, '--listTests'], options)
    .split('\n')
    .filter(Boolean)
    .map((file) => path.relative(options.cwd, file))
    .filter((file) => !ended.has(file))
    .map((file) => ({ file, title: 'the file was run to its end', message: 'Jest died before' }));
}

async function runAlone(project, file) {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-second-try-'));
  try {
    const env = { WINS_TEST_SUMMARY: path.join(folder, 'summary.json') };
    const args = [jest, '--runInBand', '--runTestsByPath', file];
    const { isGreen, ending, printed } = await runShown(args, {
      cwd: path.join(root, project),
      env,
    });
    const { passed = 0, failures = [] } = readSummary(env.WINS_TEST_SUMMARY) ?? {};
    if (!isGreen && failures.length === 0)
      failures.push({ file, title: `the file ${ending}`, message: printed.slice(-1000) });
    return { passed, failures };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readSummary(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function fail(result, title, message) {
  result.failures.push({ file: result.suite, title, message });
}

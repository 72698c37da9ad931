// Runs the specs of all projects in Jest.
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
/** Makes jest.preset.js choose full and long specs. */
const LONG = { WINS_TEST_TIER: 'long' };
const summaryOf = (project) => path.join(root, project, 'test-output', 'summary.json');

/**
 * Runs the specs of `npm test` in all projects; each project writes a summary.
 *
 * @param {readonly string[]} args - Of the program that runs Jest in each project.
 * @returns One result for each project.
 */
export async function runJestProjects(args) {
  for (const project of projects) rmSync(summaryOf(project), { force: true });
  const { isGreen, ending, printed } = await runShown(args);
  const results = [];
  for (const project of projects) results.push(await resultOf(project, summaryOf(project), {}));
  const isExplained =
    results.every(({ files }) => files.length > 0) &&
    results.some(({ failures, unsteady }) => failures.length + unsteady.length > 0);
  if (!isGreen && !isExplained) {
    const runner = emptyResult('the runner of the specs');
    fail(runner, ending, printed.split('\n').slice(-12).join('\n'));
    results.push(runner);
  }
  return results;
}

/**
 * Runs full and long specs, project by project.
 *
 * @param {readonly string[]} specs - Relative to the root.
 * @param {{ besideAs?: string }} [options] - As of runShown.
 * @returns One result for each project with such specs.
 */
export async function runLongSpecs(specs, options = {}) {
  const results = [];
  for (const project of projects) {
    const files = specs.filter((spec) => spec.startsWith(project + path.sep));
    if (files.length === 0) continue;
    const args = ['--runTestsByPath', ...files.map((file) => path.relative(project, file))];
    await inFolder(async (folder) => {
      const WINS_TEST_SUMMARY = path.join(folder, 'summary.json');
      const cwd = path.join(root, project);
      await runShown([jest, ...args], { ...options, cwd, env: { ...LONG, WINS_TEST_SUMMARY } });
      results.push(await resultOf(project, WINS_TEST_SUMMARY, LONG, args));
    });
  }
  return results;
}

/**
 * Returns the spec files with one of the suffixes, relative to the root.
 *
 * @param {...string} suffixes
 */
export function specsNamed(...suffixes) {
  return projects.flatMap((project) =>
    readdirSync(path.join(root, project, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => suffixes.some((suffix) => file.endsWith(`.${suffix}-spec.ts`)))
      .map((file) => path.join(project, 'src', file)),
  );
}

/** Runs failed tests once more before it returns the result. */
async function resultOf(project, summaryFile, env, args = []) {
  const result = emptyResult(project);
  const summary = readSummary(summaryFile);
  if (summary === undefined) {
    fail(result, 'no spec has run', 'it left no summary: what its runner printed says more');
    return result;
  }
  result.passed = summary.passed;
  result.skipped = summary.skipped;
  result.files = summary.files.map((file) => ({ ...file, file: path.join(project, file.file) }));
  const failures = [...summary.failures, ...unfinished(project, summary, env, args)];
  const second = await trySecondTime(failures, summary.files, (file) =>
    runAlone(project, file, env),
  );
  result.passed += second.passed;
  for (const key of ['failures', 'unsteady'])
    result[key] = second[key].map((test) => ({ ...test, file: path.join(project, test.file) }));
  return result;
}

/** Each spec file that had not ended when Jest died counts as a failure. */
function unfinished(project, { isComplete, files }, env, args) {
  if (isComplete) return [];
  const ended = new Set(files.map(({ file }) => file));
  const cwd = path.join(root, project);
  return execFileSync(process.execPath, [jest, '--listTests', ...args], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
    .split('\n')
    .filter(Boolean)
    .map((file) => path.relative(cwd, file))
    .filter((file) => !ended.has(file))
    .map((file) => ({ file, title: 'the file was run to its end', message: 'Jest died before' }));
}

function runAlone(project, file, more) {
  return inFolder(async (folder) => {
    const env = { ...more, WINS_TEST_SUMMARY: path.join(folder, 'summary.json') };
    const args = [jest, '--runInBand', '--runTestsByPath', file];
    const { isGreen, ending, printed } = await runShown(args, {
      cwd: path.join(root, project),
      env,
    });
    const { passed = 0, failures = [] } = readSummary(env.WINS_TEST_SUMMARY) ?? {};
    if (!isGreen && failures.length === 0)
      failures.push({ file, title: `the file ${ending}`, message: printed.slice(-1000) });
    return { passed, failures };
  });
}

/**
 * Calls `use` with a new folder, for the summary of one run of Jest.
 *
 * @template T
 * @param {(folder: string) => Promise<T>} use
 */
async function inFolder(use) {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-summary-'));
  try {
    return await use(folder);
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

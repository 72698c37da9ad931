// Prints the report last, because CI keeps only the end of the output.

const MESSAGE_LINES = 15;
const SLOWEST_FILES = 15;

/**
 * @typedef {{ file: string, title: string, message: string }} Failure - A failed test.
 * @typedef {{ file: string, durationMs: number, passed: number }} EndedFile - A spec file that ran to its end.
 * @typedef {object} Result - Result of a suite.
 * @property {string} suite
 * @property {number} passed - Number of tests.
 * @property {number} skipped - Number of tests.
 * @property {EndedFile[]} files
 * @property {Failure[]} failures
 * @property {Failure[]} unsteady - Failures of files that passed when they ran again.
 * @property {string[]} notes - One line each.
 */

/**
 * @param {string} suite
 * @returns {Result}
 */
export function emptyResult(suite) {
  return { suite, passed: 0, skipped: 0, files: [], failures: [], unsteady: [], notes: [] };
}

/**
 * Prints the slowest spec files, the failed tests, the unsteady files, and the counts.
 *
 * @param {readonly Result[]} results - One for each suite.
 * @returns Whether nothing failed.
 */
export function printReport(results) {
  const all = (/** @type {'failures' | 'unsteady'} */ key) => results.flatMap((one) => one[key]);
  const lines = [];
  const slowest = results
    .flatMap(({ files }) => files)
    .toSorted((a, b) => b.durationMs - a.durationMs);
  if (slowest.length > 0) {
    lines.push('', '── the slowest files');
    for (const { file, durationMs } of slowest.slice(0, SLOWEST_FILES))
      lines.push(`${(durationMs / 1000).toFixed(1).padStart(7)} s  ${file}`);
  }
  for (const { suite, skipped } of results)
    if (skipped > 0) lines.push('', `${suite}: ${skipped} SKIPPED`);
  for (const note of results.flatMap(({ notes }) => notes)) lines.push('', note);

  const failures = all('failures');
  if (failures.length > 0) lines.push('', '── what failed');
  for (const { file, title, message } of failures) {
    const shown = message
      .trim()
      .split('\n')
      .filter((line) => !/^\s+at .*node_modules/.test(line))
      .slice(0, MESSAGE_LINES);
    lines.push('', `FAILED: ${file}: ${title}`, ...shown.map((line) => `    ${line}`));
  }
  lines.push('');
  const unsteady = all('unsteady');
  for (const file of new Set(unsteady.map((test) => test.file))) {
    const titles = unsteady.filter((test) => test.file === file).map(({ title }) => title);
    lines.push(`UNSTEADY: ${file}: ${titles.join('; ')}`);
  }
  const passed = results.reduce((total, result) => total + result.passed, 0);
  lines.push(`${passed} passed, ${failures.length} failed`);
  console.log(lines.join('\n'));
  return failures.length === 0;
}

// The last lines of a test run: CI keeps only the end of what is printed.

const MESSAGE_LINES = 15;
const SLOWEST_FILES = 15;

/** What a suite found: its results are added up by {@link printReport}. */
export function emptyResult(suite) {
  return { suite, passed: 0, skipped: 0, files: [], failures: [], unsteady: [] };
}

/**
 * Prints the slowest spec files, then each failed test, then each file that failed once and passed when it ran again, then the
 * counts.
 *
 * @param results - Of each suite: how many tests `passed` and were `skipped`; `files` with their `durationMs` and their `passed` tests; `failures` and
 *   `unsteady`, each with the `file`, the `title` and the `message` of a test.
 * @returns Whether nothing failed.
 */
export function printReport(results, notes = []) {
  const all = (key) => results.flatMap((result) => result[key]);
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  const lines = [];
  const slowest = all('files').toSorted((a, b) => b.durationMs - a.durationMs);
  if (slowest.length > 0) {
    lines.push('', '── the slowest files');
    for (const { file, durationMs } of slowest.slice(0, SLOWEST_FILES))
      lines.push(`${(durationMs / 1000).toFixed(1).padStart(7)} s  ${file}`);
  }
  for (const { suite, skipped } of results)
    if (skipped > 0) lines.push('', `${suite}: ${skipped} SKIPPED`);
  for (const note of notes) lines.push('', note);

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
  lines.push(`${sum('passed')} passed, ${failures.length} failed`);
  console.log(lines.join('\n'));
  return failures.length === 0;
}

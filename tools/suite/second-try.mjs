/** If more files fail, the cause is not unsteady tests. */
const MOST_FILES = 8;

/**
 * Runs each failed spec file again, alone. If it then passes, its failures count as unsteady: the report names them, but the run does not fail.
 *
 * @param {readonly import('./report.mjs').Failure[]} failures - `file` is '' for a failure without a file, which cannot be run again.
 * @param {readonly import('./report.mjs').EndedFile[]} ended
 * @param {(file: string) => Promise<{ passed: number, failures: readonly import('./report.mjs').Failure[] }>} runAgain - Runs one file.
 * @returns The remaining `failures`, the `unsteady` ones, and how many more tests `passed`.
 */
export async function trySecondTime(failures, ended, runAgain) {
  const files = [...new Set(failures.map(({ file }) => file))].filter((file) => file !== '');
  if (files.length > MOST_FILES) {
    console.log(`\n${files.length} files failed, more than ${MOST_FILES}: none is run again`);
    return { failures: [...failures], unsteady: [], passed: 0 };
  }
  const result = {
    failures: failures.filter(({ file }) => file === ''),
    /** @type {import('./report.mjs').Failure[]} */
    unsteady: [],
    passed: 0,
  };
  for (const file of files) {
    console.log(`\n── once more, alone: ${file}`);
    const first = failures.filter((failure) => failure.file === file);
    const second = await runAgain(file);
    result.failures.push(...second.failures);
    if (second.failures.length > 0) continue;
    result.unsteady.push(...first);
    result.passed += second.passed - (ended.find((one) => one.file === file)?.passed ?? 0);
  }
  return result;
}

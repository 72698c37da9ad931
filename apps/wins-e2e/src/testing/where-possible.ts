/** In CI every test runs: a missing right or tool fails there instead of causing a skip that nobody reads. */
const mustRun = process.env['CI'] !== undefined || process.env['WINS_REQUIRE_WINDOWS'] === '1';

/**
 * Returns Jest's `it` or `describe` for tests that need a right or a tool; it skips when `isPossible` is false. Standard error names the
 * skipped tests.
 *
 * @param skipped - The skipped tests, and why.
 */
export function wherePossible<Test extends { readonly skip: Test }>(
  test: Test,
  isPossible: boolean,
  skipped: string,
): Test {
  if (isPossible || mustRun) return test;
  process.stderr.write(`SKIPPED: ${skipped}\n`);
  return test.skip;
}

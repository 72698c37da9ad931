/** CI runs every test, so that a missing permission or tool causes a failure, not an unnoticed skip. */
const mustRun = process.env['CI'] !== undefined || process.env['WINS_REQUIRE_WINDOWS'] === '1';

/**
 * Returns `test` (Jest's `it` or `describe`), or `test.skip` if `isPossible` is false and skips are allowed. Standard error names the skipped tests.
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

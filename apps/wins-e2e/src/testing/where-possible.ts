/** In CI every test runs: what the machine cannot do there is a failure, not a skip that no one reads. */
const mustRun = process.env['CI'] !== undefined || process.env['WINS_REQUIRE_WINDOWS'] === '1';

/**
 * For tests that need a right or a tool that not every machine has: Jest's `it` or `describe`, which skips where
 * `isPossible` is false; standard error names what was skipped.
 *
 * @param skipped - What is not tested then, and why.
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

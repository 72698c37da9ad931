import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { emptyResult } from './report.mjs';
import { root, runShown } from './run-shown.mjs';

/**
 * Runs a suite that has a runner of its own.
 *
 * @param args - The runner and its arguments. It leaves its result in `node_modules/.cache/<folder>/summary.json`.
 * @param isBeside - Whether it runs beside others: what it prints is shown at its end.
 * @returns That result; with a failure if the runner failed without one.
 */
export async function runSuite(suite, args, folder, { isBeside = false } = {}) {
  const summary = path.join(root, 'node_modules/.cache', folder, 'summary.json');
  rmSync(summary, { force: true });
  if (!isBeside) console.log(`\n── ${suite}`);
  const { isGreen, ending, printed } = await runShown(args, isBeside ? { besideAs: suite } : {});
  const result = emptyResult(suite);
  if (existsSync(summary)) Object.assign(result, JSON.parse(readFileSync(summary, 'utf8')));
  if (!isGreen && result.failures.length === 0) {
    const message = `${ending}\n${printed.trimEnd().split('\n').slice(-14).join('\n')}`;
    result.failures.push({ file: args[0], title: suite, message });
  }
  return result;
}

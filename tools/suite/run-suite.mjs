import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { endOf } from './checks.mjs';
import { emptyResult } from './report.mjs';
import { root, runShown } from './run-shown.mjs';

/**
 * Runs a suite that has its own runner.
 *
 * @param {string} suite
 * @param {readonly string[]} args - The runner and its arguments. It writes its result to `node_modules/.cache/<folder>/summary.json`.
 * @param {string} folder
 * @param {{ isBeside?: boolean }} [options] - `isBeside`: other programs run in parallel, so show the output only at the end.
 * @returns The result, plus a failure if the runner failed without reporting one.
 */
export async function runSuite(suite, args, folder, { isBeside = false } = {}) {
  const summary = path.join(root, 'node_modules/.cache', folder, 'summary.json');
  rmSync(summary, { force: true });
  if (!isBeside) console.log(`\n── ${suite}`);
  const { isGreen, ending, printed } = await runShown(args, isBeside ? { besideAs: suite } : {});
  const result = emptyResult(suite);
  if (existsSync(summary)) Object.assign(result, JSON.parse(readFileSync(summary, 'utf8')));
  if (!isGreen && result.failures.length === 0) {
    const message = `${ending}\n${endOf(printed)}`;
    result.failures.push({ file: args[0] ?? suite, title: suite, message });
  }
  return result;
}

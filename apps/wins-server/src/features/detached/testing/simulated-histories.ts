import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.resolve(__dirname, '../../../../../..');
/**
 * Most objects die young: with more memory for new ones, a history takes a tenth less. So it does without the stacks of errors: most are refusals
 * that the model predicts, and the tool shows the stacks when it is run by hand. A sixth of the time goes into the compilation of functions, which is
 * shorter if fewer other functions are compiled into each.
 */
const OPTIONS = [
  '--max-semi-space-size=64',
  '--stack-trace-limit=0',
  '--max-inlined-bytecode-size-cumulative=300',
];

/** Plays random histories on a simulated machine, in a process of their own. @throws Error with the shortened history that failed. */
export async function playSimulated(histories: number, seed: string | undefined): Promise<void> {
  const tool = path.join(ROOT, 'tools/play-histories.mjs');
  const chosen = seed === undefined ? [] : ['--seed', seed];
  const args = [...OPTIONS, tool, '--histories', String(histories), ...chosen];
  await promisify(execFile)(process.execPath, args, { cwd: ROOT });
}

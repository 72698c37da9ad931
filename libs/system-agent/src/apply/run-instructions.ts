import { execute } from './execute.js';
import type { PassContext } from './pass-context.js';
import type { PassResult } from './pass.js';

/** What came of the one-time instructions; the outputs are those of the pass before, and what was saved now. */
export type InstructionsResult = Pick<PassResult, 'succeeded' | 'failure' | 'outputs'>;

/**
 * Runs the one-time instructions in the order of the list, until the first that fails; its output is saved too.
 *
 * @throws as `execute` does.
 */
export async function runInstructions(
  context: PassContext,
  attempt: number,
): Promise<InstructionsResult> {
  const { plan, source } = context.pass;
  let { outputs } = context.pass;
  for (const [index, command] of plan.instructions.entries()) {
    const result = await execute(context, { command, index, periodic: false, attempt });
    const name = command.name ?? '';
    if (command.saveOutput && name !== '') outputs = { ...outputs, [name]: result.stdout };
    else if (command.saveOutput) {
      const message = `the output of instruction ${index} is not saved: it has no name`;
      context.warnings.tell(source, `unnamed instruction ${index}`, message);
    }
    const { failure } = result;
    if (failure !== undefined) return { succeeded: false, failure, outputs };
  }
  return { succeeded: true, outputs };
}

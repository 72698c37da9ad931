import { execute } from './execute.js';
import type { PassContext } from './pass-context.js';
import type { Outputs } from './pass.js';

/** What came of the one-time instructions. */
export interface InstructionsResult {
  readonly succeeded: boolean;
  /** Those of the pass before, and what was saved now. */
  readonly outputs: Outputs;
}

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
    if (result.exitCode !== 0) return { succeeded: false, outputs };
  }
  return { succeeded: true, outputs };
}

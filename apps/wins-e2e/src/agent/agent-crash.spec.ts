// Kills the daemon once before its agent has stored the result, and once after. agent-crash.long-spec.ts tries a sample of all steps.
import { CrashedAgent } from '../testing/agent/crashed-agent.js';

describe('a daemon that is killed while it follows a plan', () => {
  it.each([
    ['runs it once more when its instructions had no result yet', 'run second'],
    ['runs nothing again when the result was on the disk', 'rename unwritten.json'],
  ])('%s', async (_title, step) => {
    await using crashed = await CrashedAgent.create({ isPending: true, fails: false });
    await crashed.dieAndFollow({ step, moment: 'after' });
  });
});

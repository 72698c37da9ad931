// Kills the daemon once before its agent has stored the result, and once after. The spec of the remote plan ends an agent at each call.
import { CrashedAgent } from '../testing/agent/crashed-agent.js';

describe('a daemon that is killed while it follows a plan', () => {
  it.each([
    ['runs it once more when its instructions had no result yet', 'run second'],
    ['runs nothing again when the result was on the disk', 'rename unwritten.json'],
  ])('%s', async (_title, step) => {
    await using crashed = await CrashedAgent.create();
    await crashed.dieAndFollow(step);
  });
});

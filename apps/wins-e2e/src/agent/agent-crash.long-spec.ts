/**
 * Kills the daemon at a sample of the steps of its agent, and restarts it. A step changes the node, sends a request to the API server or starts a
 * program. A plan without a result runs again as the same attempt. With `plan-state`, a plan with a result does not run again. Without `plan-state`,
 * each start of the daemon applies the plan again unless the plan has failed.
 *
 * The node does not change between two steps, so a crash after one step equals a crash before the next. Killing the daemon stops neither a request
 * nor a program: the API server still finishes the request, and the program continues. Therefore the daemon is also killed during requests and
 * programs.
 */
import { CrashedAgent, type Crash, type PlanOfCrash } from '../testing/agent/crashed-agent.js';
import { sampleOf } from '../testing/sample.js';
import { forEachOf } from '../testing/upgrade/upgrade-world.js';

describe('a daemon that is killed at each step of its agent', () => {
  it.each<[string, PlanOfCrash]>([
    ['a plan that succeeds, with plan-state', { isPending: true, fails: false }],
    ['a plan that succeeds, by the rules before it', { isPending: false, fails: false }],
    ['a plan that fails, with plan-state', { isPending: true, fails: true }],
    ['a plan that fails, by the rules before it', { isPending: false, fails: true }],
  ])('loses no result and runs nothing more often than it has to: %s', async (_title, rules) => {
    const steps = await CrashedAgent.steps(rules);
    const crashes = steps.flatMap((name, index): Crash[] => {
      const step = index + 1;
      const goesOn = /^(?:GET|PUT|run) ?/.test(name);
      return [{ step, moment: 'after' }, ...(goesOn ? [{ step, moment: 'during' } as const] : [])];
    });
    expect(steps).toEqual(expect.arrayContaining(['PUT', 'run second', 'rename unwritten.json']));
    await forEachOf(sampleOf(crashes, 4), async (crash) => {
      await using crashed = await CrashedAgent.create(rules);
      await crashed.dieAndFollow(crash).catch((error: unknown) => {
        const { step, moment } = crash;
        const name = steps[Number(step) - 1];
        throw new Error(`${moment} ${step}, ${name}: ${String(error)}`, { cause: error });
      });
    });
  });
});

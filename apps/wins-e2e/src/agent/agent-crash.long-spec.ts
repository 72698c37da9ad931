/**
 * The daemon is killed at a sample of everything that its agent does to the node, to the Secret and with programs, and started again. What has a
 * result is not run again, but where the rules before plan-state run an applied plan at each start; what has none is, as the same attempt.
 *
 * Between one act and the next nothing changes, so dying after an act is dying before the next one; requests and programs are also
 * died in, for there the other side goes on.
 */
import { CrashedAgent, type Crash, type PlanOfCrash } from '../testing/agent/crashed-agent.js';
import { sampleOf } from '../testing/sample.js';
import { forEachOf } from '../testing/upgrade/upgrade-world.js';

describe('a daemon that is killed at each act of its agent', () => {
  it.each<[string, PlanOfCrash]>([
    ['a plan that succeeds, with plan-state', { isPending: true, fails: false }],
    ['a plan that succeeds, by the rules before it', { isPending: false, fails: false }],
    ['a plan that fails, with plan-state', { isPending: true, fails: true }],
    ['a plan that fails, by the rules before it', { isPending: false, fails: true }],
  ])('loses no result and runs nothing more often than it has to: %s', async (_title, rules) => {
    const acts = await CrashedAgent.acts(rules);
    const crashes = acts.flatMap((name, index): Crash[] => {
      const act = index + 1;
      const goesOn = /^(?:GET|PUT|run) ?/.test(name);
      return [{ act, moment: 'after' }, ...(goesOn ? [{ act, moment: 'during' } as const] : [])];
    });
    expect(acts).toEqual(expect.arrayContaining(['PUT', 'run second', 'rename unwritten.json']));
    await forEachOf(sampleOf(crashes, 4), async (crash) => {
      await using crashed = await CrashedAgent.create(rules);
      await crashed.dieAndFollow(crash).catch((error: unknown) => {
        const { act, moment } = crash;
        const name = acts[Number(act) - 1];
        throw new Error(`${moment} ${act}, ${name}: ${String(error)}`, { cause: error });
      });
    });
  });
});

import { startApiServer, type ApiServer } from '@wins/system-agent/testing';
import { readFileSync } from 'node:fs';
import { PlanNode } from '../testing/agent/plan-node.js';
import { until } from '../testing/process-table.js';

interface Status {
  readonly Sources: readonly { readonly State: string; readonly Problem: string }[];
}

describe('a node whose server uses plan-state', () => {
  let api: ApiServer;
  let node: PlanNode;

  beforeEach(async () => {
    api = await startApiServer();
    node = new PlanNode();
  });
  afterEach(async () => {
    await node[Symbol.asyncDispose]();
    await api.close();
  });

  /** A plan that leaves a line behind for each run. */
  const plan = (name: string): string => {
    const runs = node.workspace.path('runs');
    const command = node.workspace.script(
      name,
      `echo ${name} $CATTLE_AGENT_ATTEMPT_NUMBER >>${runs}`,
    );
    return JSON.stringify({ instructions: [{ name, command }] });
  };
  const runs = () => readFileSync(node.workspace.path('runs'), 'utf8').trim().split('\n');
  const told = async () => {
    for (;;) {
      const { Sources } = await node.ask<Status>('status');
      const [remote] = Sources;
      if (remote && remote.State !== 'starting') return remote;
    }
  };
  const doctor = async () => {
    const { stdout } = await node.wins('doctor', '--config', node.workspace.path('config'));
    return String(stdout);
  };

  it('runs a plan again that somebody marks as in-progress while the daemon runs', async () => {
    api.create({ plan: plan('a'), 'plan-state': 'pending' });
    await node.start(node.remoteConfig(api));
    await until(() => String(api.data()['plan-state']) === 'succeeded');
    expect(runs()).toEqual(['a 1']);
    api.update({ 'plan-state': 'in-progress' });
    await until(() => String(api.data()['plan-state']) === 'succeeded');
    expect(runs()).toEqual(['a 1', 'a 1']);
    const { 'plan-revision': revision, 'success-count': successes } = api.data();
    expect([String(revision), String(successes)]).toEqual(['1', '2']);
  });

  it.each(['cancelled', 'paused'])(
    'tells that the server has %s a plan, which is no fault',
    async (state) => {
      api.create({ plan: plan('a'), 'plan-state': state });
      await node.start(node.remoteConfig(api));
      expect(await told()).toMatchObject({ State: state, Problem: '' });
      expect(await doctor()).toMatch(new RegExp(`^ok +agent +remote: ${state}$`, 'm'));
    },
  );

  it.each([
    ['succeeded', '"succeeded"'],
    ['Pending', '"Pending"'],
    ['pending\n', '"pending\\n"'],
  ])('tells of a plan that plan-state %j does not start', async (state, shown) => {
    api.create({ plan: plan('a'), 'plan-state': state });
    await node.start(node.remoteConfig(api));
    const Problem = `plan-state is ${shown}; only pending starts the plan`;
    expect(await told()).toMatchObject({ State: 'waiting', Problem });
    expect(await doctor()).toContain(`remote: waiting: ${Problem}`);
    api.update({ 'plan-state': 'pending' });
    await until(() => String(api.data()['plan-state']) === 'succeeded');
    expect(runs()).toEqual(['a 1']);
  });
});

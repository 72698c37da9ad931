import { startApiServer, type ApiServer } from '@wins/system-agent/testing';
import { readFileSync } from 'node:fs';
import { PlanNode } from '../testing/agent/plan-node.js';
import { until } from '../testing/process-table.js';

interface Status {
  readonly sources: readonly {
    readonly state: string;
    readonly problem: string;
    readonly failure?: object;
  }[];
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
      const { sources } = await node.ask<Status>('status');
      const [remote] = sources;
      if (remote && remote.state !== 'starting') return remote;
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
      expect(await told()).toMatchObject({ state, problem: '' });
      expect(await doctor()).toMatch(new RegExp(`^ok +agent +remote: ${state}$`, 'm'));
    },
  );

  it('reports a plan that an older Rancher wrote beside the state of an earlier plan', async () => {
    api.create({ plan: plan('a'), 'plan-state': 'pending' });
    await node.start(node.remoteConfig(api));
    await until(() => String(api.data()['plan-state']) === 'succeeded');
    api.update({ plan: plan('b') });
    let source = await told();
    while (source.state !== 'waiting') source = await told();
    const found = 'plan-state is "succeeded" from an earlier plan';
    expect(source.problem).toContain(found);
    expect(await doctor()).toContain(`remote: waiting: ${found}`);
    api.update({ 'plan-state': undefined });
    await until(() => runs().length === 2);
    expect(runs()).toEqual(['a 1', 'b 1']);
  });

  it.each([undefined, 'pending'])(
    'names the instruction that failed, its exit code and what it said, also after a restart: plan-state %s',
    async (state) => {
      const command = node.workspace.script('fails', 'echo first >&2; echo "no room" >&2; exit 3');
      const text = JSON.stringify({ instructions: [{ name: 'install', command }] });
      const more = state === undefined ? { 'max-failures': '1' } : { 'plan-state': state };
      api.create({ plan: text, ...more });
      const config = node.remoteConfig(api);
      await node.start(config);
      await until(() => String(api.data()['failure-count']) === '1');
      expect(JSON.parse(String(api.data()['failed-instruction']))).toEqual({
        ...{ instruction: 'install', exitCode: 3, stderr: 'first\nno room\n' },
      });
      for (const isAgain of [false, true]) {
        if (isAgain) {
          await node.daemon[Symbol.asyncDispose]();
          await node.start(config);
        }
        let source = await told();
        while (source.state !== 'failed') source = await told();
        expect(source).toMatchObject({
          problem: 'instruction "install" ended with 3: "first\\nno room", in try 1',
          failure: { instruction: 'install', exitCode: 3, stderr: 'first\nno room\n' },
        });
        const said = await node.wins('srv', 'plan', 'status');
        expect(String(said.stdout)).toMatch(
          /failed instruction: install, exit code 3\n {4}first\n {4}no room\n/,
        );
        expect(await doctor()).toContain('instruction "install" ended with 3');
      }
      const events = await node.wins('srv', 'events', '-o', 'json');
      expect(String(events.stdout)).toMatch(/"instruction": ?"install","exitCode": ?3/);
      // The next applied plan clears the failure.
      api.update({ plan: plan('b'), ...(state !== undefined && { 'plan-state': state }) });
      await until(() => String(api.data()['failed-instruction']) === '');
      expect((await told()).failure).toBeUndefined();
    },
  );

  it.each([
    ['Pending', '"Pending"'],
    ['pending\n', '"pending\\n"'],
  ])('tells of a plan that plan-state %j does not start', async (state, shown) => {
    api.create({ plan: plan('a'), 'plan-state': state });
    await node.start(node.remoteConfig(api));
    const Problem = `plan-state is ${shown}; only pending starts the plan`;
    expect(await told()).toMatchObject({ state: 'waiting', problem: Problem });
    expect(await doctor()).toContain(`remote: waiting: ${Problem}`);
    api.update({ 'plan-state': 'pending' });
    await until(() => String(api.data()['plan-state']) === 'succeeded');
    expect(runs()).toEqual(['a 1']);
  });
});

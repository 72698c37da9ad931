import { startApiServer, type ApiServer } from '@wins/system-agent/testing';
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
        instruction: 'install',
        exitCode: 3,
        stderr: 'first\nno room\n',
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
});

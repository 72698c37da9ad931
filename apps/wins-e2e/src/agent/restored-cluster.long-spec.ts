import { startApiServer, type ApiServer } from '@wins/system-agent/testing';
import { existsSync, readFileSync } from 'node:fs';
import { PlanNode } from '../testing/agent/plan-node.js';
import { until } from '../testing/process-table.js';

describe('a node whose management cluster is restored from a backup', () => {
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

  const runs = (): string[] => {
    const file = node.workspace.path('runs');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  };
  const planOf = (name: string): string => {
    const args = ['-c', `echo ${name} >> ${node.workspace.path('runs')}`];
    return JSON.stringify({ instructions: [{ name, command: '/bin/sh', args }] });
  };
  const applied = async (count: number): Promise<void> => {
    await until(() => String(api.data()['success-count']) === String(count));
  };
  /** Restores the cluster: all connections end, and the versions of its objects go back. */
  const restored = (restore: () => void): void => {
    restore();
    api.resetConnections();
  };
  const hasState = async (text: RegExp): Promise<void> => {
    const config = node.workspace.path('config');
    const shown = () => node.wins('srv', 'plan', 'status', '--config', config);
    while (!text.test(String((await shown()).stdout)));
  };

  it('follows the restored Secret, whose version is older, and runs nothing of the plan that is lost', async () => {
    api.create({ plan: planOf('first') });
    await node.start(node.remoteConfig(api));
    await applied(1);
    const restore = api.backup();
    api.update({ plan: planOf('lost') });
    await applied(2);
    // The version of the lost plan is far in the future of the restored cluster.
    for (let change = 0; change < 20; change += 1) api.bookmark();
    const before = api.requests.length;
    restored(restore);
    await until(() => api.requests.length > before);
    api.update({ plan: planOf('next') });
    await applied(2);
    expect(runs()).toEqual(['first', 'lost', 'next']);
    const { stdout } = await node.wins('doctor', '--config', node.workspace.path('config'));
    expect(String(stdout)).toMatch(/^ok +plan +remote: applied$/m);
  });

  it('applies the plan of the restored Secret if the backup has no result of it', async () => {
    api.create({ plan: planOf('first') });
    const restore = api.backup();
    await node.start(node.remoteConfig(api));
    await applied(1);
    api.update({ plan: planOf('lost') });
    await applied(2);
    restored(restore);
    await until(() => runs().length === 3);
    await applied(1);
    expect(runs()).toEqual(['first', 'lost', 'first']);
  });

  it('sees that the restored cluster has no plan, no Secret, or another Secret of the name', async () => {
    const withoutSecret = api.backup();
    api.create({});
    const withoutPlan = api.backup();
    api.update({ plan: planOf('lost') });
    await node.start(node.remoteConfig(api));
    await applied(1);

    restored(withoutPlan);
    await hasState(/^remote: noPlan/m);
    restored(withoutSecret);
    await hasState(/^remote: noSecret/m);
    api.create({ plan: planOf('another') });
    await applied(1);
    expect(runs()).toEqual(['lost', 'another']);
  });
});

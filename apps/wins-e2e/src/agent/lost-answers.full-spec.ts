import { silent, startApiServer, unanswered } from '@wins/system-agent/testing';
import { PlanNode } from '../testing/agent/plan-node.js';
import { until } from '../testing/process-table.js';

/** Less than the 30 s that the agent waits for an answer; it has two writes for each plan. */
const WITHIN_MS = 25_000;

it('a daemon whose writes are never answered goes on when the watch shows them', async () => {
  const api = await startApiServer();
  await using node = new PlanNode();
  try {
    const plan = (name: string): string =>
      JSON.stringify({ instructions: [{ name, command: '/bin/true' }] });
    api.create({ plan: plan('first'), 'plan-state': 'pending' });
    api.fault(unanswered(silent), { when: ({ method }) => method === 'PUT' });
    const startedMs = performance.now();
    await node.start(node.remoteConfig(api));
    await until(() => String(api.data()['plan-state']) === 'succeeded');
    api.update({ plan: plan('second'), 'plan-state': 'pending' });
    await until(() => String(api.data()['success-count']) === '2');
    expect(performance.now() - startedMs).toBeLessThan(WITHIN_MS);
  } finally {
    await api.close();
  }
});

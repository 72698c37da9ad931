import { answer, type ApiRequest, startApiServer } from '@wins/system-agent/testing';
import { PlanNode } from '../testing/agent/plan-node.js';

it('is reported by the doctor as following no plan, although the doctor itself can read and write', async () => {
  const api = await startApiServer();
  await using node = new PlanNode();
  api.create({ plan: '{}' });
  const isCollection = ({ path }: ApiRequest) => path.endsWith('/secrets');
  api.fault(answer(500, '{}'), { when: isCollection });
  const config = node.remoteConfig(api);
  const daemon = await node.start(config);
  await daemon.logged(({ state }) => state === 'disconnected');
  const { code, stdout } = await node.wins('doctor', '--config', config);
  const said = String(stdout);
  expect(said).toMatch(/^ok +agent +the API server answers, and the Secret can be read/m);
  expect(said).toMatch(
    /^problem +plan +remote: disconnected: cannot (?:list|watch) the Secret: .*500/m,
  );
  expect(code).toBe(2);
  await api.close();
});

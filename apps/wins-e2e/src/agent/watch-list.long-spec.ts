import {
  answer,
  type ApiFault,
  type ApiRequest,
  resetAfter,
  startApiServer,
} from '@wins/system-agent/testing';
import { PlanNode } from '../testing/agent/plan-node.js';
import { WatchedNode } from '../testing/agent/watched-node.js';

const hang: ApiFault = (_request, response) => {
  response.writeHead(200).flushHeaders();
};

describe('a node whose API server cannot begin a watch with the Secret', () => {
  it.each([
    ['refuses it by an error event, as 1.35 does on etcd 3.4', { watchList: 'failing' }, undefined],
    ['does not know the option', { watchList: false }, undefined],
    ['answers 500', {}, answer(500, '{}')],
    ['answers in HTML', {}, answer(200, '<html>\n')],
    ['ends the answer before the Secret', {}, answer(200, '')],
    ['cuts the answer off', {}, resetAfter(100)],
    ['does not go on after the header, which costs 30 s', {}, hang],
  ] as const)('follows its plan none the less where it %s', async (_title, options, fault) => {
    await using node = await WatchedNode.create(options, fault);
    await node.expectFollowed();
  });
});

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
  expect(said).toMatch(/^problem +agent +remote: disconnected: cannot watch the Secret: .*500/m);
  expect(code).toBe(2);
  await api.close();
});

import type { ApiFault } from '@wins/system-agent/testing';
import { WatchedNode } from '../testing/agent/watched-node.js';

const hang: ApiFault = (_request, response) => {
  response.writeHead(200).flushHeaders();
};

it('a node follows its plan although the watch that should begin with the Secret hangs', async () => {
  await using node = await WatchedNode.create({}, hang);
  await node.expectFollowed();
});

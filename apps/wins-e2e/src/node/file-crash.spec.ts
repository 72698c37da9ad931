import { DeadlyNode } from '../testing/node/deadly-release.js';

describe('a command that dies while it changes a file', () => {
  let node: DeadlyNode;
  beforeAll(async () => {
    node = await DeadlyNode.start();
  });
  afterAll(() => node[Symbol.asyncDispose]());

  it('is finished or undone by the next command, even before a program has its final name', async () => {
    const changes = await node.changesOf('install');
    await node.installAt(changes.indexOf('rename usr/local/bin/.wins.installing') + 1);
  });

  it('is finished by the next command, even if it was uninstalling', async () => {
    const changes = await node.changesOf('uninstall');
    await node.uninstallAt(changes.indexOf('unlink usr/local/bin/wins') + 1);
  });
});

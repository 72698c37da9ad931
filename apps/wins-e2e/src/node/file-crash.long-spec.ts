import { DeadlyNode } from '../testing/node/deadly-release.js';
import { numbersTo, sampleOf } from '../testing/sample.js';

describe('a command that dies at any change of a file', () => {
  let node: DeadlyNode;
  beforeAll(async () => {
    node = await DeadlyNode.start();
  });
  afterAll(() => node[Symbol.asyncDispose]());

  it('is finished or undone by the next command', async () => {
    const changes = await node.changesOf('install');
    expect(changes.length).toBeGreaterThan(100);
    // Besides the sample, always kill the command before it gives the program its final name.
    const named = changes.indexOf('rename usr/local/bin/.wins.installing') + 1;
    const sample = sampleOf(numbersTo(changes.length), 4);
    for (const change of new Set([named, ...sample])) await node.installAt(change);
  });

  it('is finished by the next command, even if it was uninstalling', async () => {
    const changes = await node.changesOf('uninstall');
    expect(changes.length).toBeGreaterThan(20);
    const removed = changes.indexOf('unlink usr/local/bin/wins') + 1;
    const sample = sampleOf(numbersTo(changes.length), 3);
    for (const change of new Set([removed, ...sample])) await node.uninstallAt(change);
  });
});

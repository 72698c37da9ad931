import { DeadlyNode } from '../testing/node/deadly-release.js';

const PARTS = 4;

/** A part of the changes, each counted from 1. */
function numbersOf(changes: readonly string[], part: number): readonly number[] {
  const size = Math.ceil(changes.length / PARTS);
  return changes.map((_, index) => index + 1).slice(part * size, (part + 1) * size);
}

describe('a command that dies at any change of a file', () => {
  let node: DeadlyNode;
  beforeAll(async () => {
    node = await DeadlyNode.start();
  });
  afterAll(() => node[Symbol.asyncDispose]());

  it.each(Array.from({ length: PARTS }, (_, part) => part))(
    'is ended by the next (part %i)',
    async (part) => {
      const changes = await node.changesOf('install');
      expect(changes.length).toBeGreaterThan(100);
      for (const change of numbersOf(changes, part)) await node.installAt(change);
    },
  );

  it('is gone on with by the next, when it takes away', async () => {
    const changes = await node.changesOf('uninstall');
    expect(changes.length).toBeGreaterThan(20);
    for (const change of changes.keys()) await node.uninstallAt(change + 1);
  });
});

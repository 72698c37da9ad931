/** @needs deadly */
// Commands that die while they change a file, the registry or a service: a sample of all changes, or with --whole each of them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DeadlyNodeOnWindows } from './deadly-node-on-windows.js';

const IS_WHOLE = process.env['WINS_WHOLE'] === '1';
/** How many changes are taken at equal distances. */
const AT_LEAST = 4;

/** The numbers of the changes at which a command is to die: some at equal distances, and the last of each kind; or all. */
function deathsIn(changes: readonly string[]): readonly number[] {
  const distance = IS_WHOLE ? 1 : Math.floor(changes.length / AT_LEAST);
  const kinds = new Map(
    changes.map((change, index) => [/^(?:half of )?\w+/.exec(change)?.[0], index + 1]),
  );
  const lastOfKind = new Set(kinds.values());
  return changes
    .map((_, index) => index + 1)
    .filter((number) => number % distance === 0 || lastOfKind.has(number));
}

describe('a command on a node of Windows that dies while it changes something', () => {
  let node: DeadlyNodeOnWindows;
  let changes: Awaited<ReturnType<DeadlyNodeOnWindows['changes']>>;
  before(async () => {
    node = await DeadlyNodeOnWindows.start();
    changes = await node.changes();
  });
  after(() => node[Symbol.asyncDispose]());

  it('is ended by the next: what is installed is whole and serves, and goes without a trace', async () => {
    assert.ok(changes.install.length > 100, changes.install.join());
    for (const change of deathsIn(changes.install)) await node.installAt(change);
  });

  it('is gone on with by the next, when it takes away, its own program too', async () => {
    assert.ok(changes.uninstall.length > 20, changes.uninstall.join());
    for (const change of deathsIn(changes.uninstall)) await node.uninstallAt(change);
  });
});

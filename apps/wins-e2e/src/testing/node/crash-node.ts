import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { NodeWorld, type Cluster } from './node-world.js';

/** How many lines the journal of a node has now; 0 without one. */
export function linesOf(world: NodeWorld): number {
  try {
    return readFileSync(world.journal, 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
}

/**
 * Joins a node, and kills the command as soon as its journal has so many lines, or earlier when it has ended by itself; then joins again.
 *
 * @returns What the second command said. The node is well, or this throws.
 */
export async function crashAndJoin(cluster: Cluster, lines: number): Promise<string> {
  await using world = new NodeWorld();
  const first = world.start(['join', '--wait', '20s'], cluster.variables);
  while (linesOf(world) < lines && first.child.exitCode === null) await delay(1);
  first.child.kill('SIGKILL');
  await first.outcome;
  const id = existsSync(world.nodeId) ? world.text(world.nodeId).trim() : undefined;
  const said = await world.say(['join', '--wait', '20s'], cluster.variables);
  const found = [said.code, said.reason, ...readdirSync(world.stateFolder)].join();
  assert.equal(found, '0,the node is in the requested state,install-manifest.json');
  // A machine that the server made is not made twice.
  if (id !== undefined) assert.equal(world.text(world.nodeId).trim(), id);
  assert.equal(await world.serves(), true);
  const again = await world.say(['join'], cluster.variables);
  assert.deepEqual([again.outcome, again.steps], ['nothing', undefined]);
  const gone = await world.say(['uninstall']);
  assert.equal([gone.code, gone.outcome, gone.kept].join(), '0,uninstalled,');
  return said.recovered ?? 'nothing';
}

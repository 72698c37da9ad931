import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { NodeWorld, type Cluster } from './node-world.js';

export function linesOf(world: NodeWorld): number {
  try {
    return readFileSync(world.journal, 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
}

/**
 * Joins a node, kills the command once its journal has `lines` lines, and joins again. A command that ends earlier is not killed.
 *
 * @returns Report of the second command.
 * @throws Error when the node is not healthy afterwards.
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
  // The second command reuses a machine that the server created for the first.
  if (id !== undefined) assert.equal(world.text(world.nodeId).trim(), id);
  assert.equal(await world.serves(), true);
  const again = await world.say(['join'], cluster.variables);
  assert.deepEqual([again.outcome, again.steps], ['nothing', undefined]);
  const gone = await world.say(['uninstall']);
  assert.equal([gone.code, gone.outcome, gone.kept].join(), '0,uninstalled,');
  return said.recovered ?? 'nothing';
}

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { live, mortalRelease, type Death } from './mortal-release.js';
import { NodeWorld } from './node-world.js';
import { Rke2OfNode } from './rke2-of-node.js';

export interface CrashedSuc {
  readonly wasKilled: boolean;
  /** The change after which the job was killed. */
  readonly last: string;
  /** The next command's report about the killed job. */
  readonly recovered: string;
}

const WAIT = ['--wait', '20s'];

/**
 * Runs a job of the upgrade controller that changes config, dependency, start type and program. Kills it after one change. Then runs a job that wants
 * no change, and the first job again. The node runs rke2, which depends on the daemon.
 *
 * @throws Error when the node is not healthy afterwards.
 */
export async function crashSuc(diesAt: Death): Promise<CrashedSuc> {
  await using world = new NodeWorld();
  await world.say(['install']);
  await using rke2 = await Rke2OfNode.start(world, true);
  const newer = mortalRelease(world, 'v1.1.0');
  const wanted = { CATTLE_WINS_DEBUG: 'true', CATTLE_ENABLE_WINS_DELAYED_START: 'true' };
  const { wasKilled, changes } = await live(world, newer, ['suc', ...WAIT], wanted, diesAt);

  const skip = { CATTLE_WINS_SKIP_BINARY_UPGRADE: 'true' };
  const next = await world.say(['suc', ...WAIT], skip, newer);
  assert.deepEqual([next.code, next.outcome], [0, 'nothing'], next.reason);
  const isNew = world.text(world.config).includes('debug: true');
  assert.equal(await world.version(), isNew ? 'v1.1.0' : 'v1.0.0');
  assert.equal(world.service?.startType, isNew ? 'delayed' : 'automatic');
  assert.deepEqual([rke2.isRunning, rke2.dependencies], [true, ['rancher-wins']]);
  assert.equal(existsSync(world.journal), false);

  const said = await world.say(['suc', ...WAIT], wanted, newer);
  assert.deepEqual([said.code, said.outcome], [0, isNew ? 'nothing' : 'installed'], said.reason);
  assert.equal(await world.version(), 'v1.1.0');
  assert.equal(readdirSync(world.stateFolder).join(), 'install-manifest.json');
  assert.deepEqual([rke2.isRunning, rke2.dependencies], [true, ['rancher-wins']]);
  return { wasKilled, last: changes.at(-1) ?? '', recovered: next.recovered ?? 'nothing' };
}

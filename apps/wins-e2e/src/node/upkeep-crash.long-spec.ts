import { existsSync, readdirSync } from 'node:fs';
import { die, mortalRelease } from '../testing/node/mortal-release.js';
import { NodeWorld } from '../testing/node/node-world.js';
import { Rke2OfNode } from '../testing/node/rke2-of-node.js';

const WAIT = ['--wait', '20s'];

it('an update that was killed while the daemon was stopped is completed by the next job, and rke2 depends on the daemon again', async () => {
  await using world = new NodeWorld();
  await world.say(['install']);
  await using rke2 = await Rke2OfNode.start(world, true);
  const newer = mortalRelease(world, 'v1.1.0');
  const wanted = { CATTLE_WINS_DEBUG: 'true', CATTLE_ENABLE_WINS_DELAYED_START: 'true' };
  expect(await die(world, newer, ['suc', ...WAIT], wanted)).toBe('SIGKILL');

  const skip = { CATTLE_WINS_SKIP_BINARY_UPGRADE: 'true' };
  const next = await world.say(['suc', ...WAIT], skip, newer);
  expect([next.code, next.outcome, next.recovered]).toEqual([0, 'nothing', 'undone']);
  expect([await world.version(), world.service?.startType]).toEqual(['v1.0.0', 'automatic']);
  expect([rke2.isRunning, rke2.dependencies]).toEqual([true, ['rancher-wins']]);
  expect(existsSync(world.journal)).toBe(false);

  const said = await world.say(['suc', ...WAIT], wanted, newer);
  expect([said.code, said.outcome]).toEqual([0, 'installed']);
  expect(await world.version()).toBe('v1.1.0');
  expect(readdirSync(world.stateFolder)).toEqual(['install-manifest.json']);
  expect([rke2.isRunning, rke2.dependencies]).toEqual([true, ['rancher-wins']]);
});

it('a dry run shows how the next command first recovers a killed one', async () => {
  await using world = new NodeWorld();
  const release = mortalRelease(world);
  await world.say(['install'], {}, release);
  const wanted = { CATTLE_WINS_DEBUG: 'true' };
  expect(await die(world, release, ['suc'], wanted)).toBe('SIGKILL');
  const left = world.snapshot();
  const dry = await world.say(['suc', '--dry-run'], wanted, release);
  expect([dry.code, dry.pending]).toEqual([
    0,
    { outcome: 'undone', steps: ['start rancher-wins'] },
  ]);
  const { stdout } = await world.wins(['uninstall', '--dry-run'], {}, release);
  expect(String(stdout)).toContain('an interrupted installation will first be undone:\n- start');
  expect(world.snapshot()).toEqual(left);
  expect(await world.say(['suc'], wanted, release)).toMatchObject({ recovered: 'undone' });
});

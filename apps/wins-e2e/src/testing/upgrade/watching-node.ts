import assert from 'node:assert/strict';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import type { LogRecord } from '../daemon.js';
import { processesWith, until } from '../process-table.js';
import { singleFile } from './single-file.js';
import { UpgradeWorld } from './upgrade-world.js';

/** Creates a node whose daemon is v1.0.0. The daemon watches a file unless `mode` says otherwise. */
export async function watchingNode(mode: 'watching' | 'none' | 'absent' = 'watching') {
  const world = await UpgradeWorld.empty('program files/wins');
  const watched = world.workspace.path('offered/wins');
  world.workspace.write('offered/other', '');
  writeFileSync(world.target, singleFile('v1.0.0'), { mode: 0o755 });
  const configure = (wanted: typeof mode, watchingPath = watched): void => {
    const pipes = { listen: world.pipe, proxy: world.workspace.path('proxy') };
    const upgrade = wanted === 'absent' ? {} : { upgrade: { mode: wanted, watchingPath } };
    const config = { debug: true, ...pipes, ...upgrade };
    const whole = world.workspace.write('next config', JSON.stringify(config));
    renameSync(whole, world.config);
  };
  configure(mode);
  world.define(`"${world.target}" srv app run --config "${world.config}"`);
  world.supervisor.start();
  await world.rest();
  return { world, watched, configure };
}

export function offer(world: UpgradeWorld, content: string, mode = 0o644): void {
  const whole = world.workspace.write('offered/next', content, mode);
  renameSync(whole, world.workspace.path('offered/wins'));
}

export function logOf(world: UpgradeWorld): LogRecord[] {
  const lines = world.supervisor.said.split('\n').filter((line) => line.endsWith('}'));
  return lines.map((line) => JSON.parse(line) as LogRecord);
}

export async function logged(world: UpgradeWorld, message: string, times = 1): Promise<LogRecord> {
  const found = () => logOf(world).filter(({ msg }) => msg === message);
  await until(() => found().length >= times);
  return found()[times - 1] as LogRecord;
}

/** All states of the watched file that were logged so far, by the present daemon and by earlier ones. */
export const states = (world: UpgradeWorld) =>
  logOf(world)
    .filter(({ msg }) => msg === 'the watched file changed its state')
    .map(({ state }) => state as string);

/** Waits until more than `known` states are logged and the last is `settled`. This state then stays. */
export async function settled(world: UpgradeWorld, known = 0): Promise<void> {
  await until(() => states(world).length > known && states(world).at(-1) === 'settled');
}

export const begun = (world: UpgradeWorld) =>
  logOf(world).filter(({ msg }) => msg === 'the upgrade to the watched file begins');

export async function served(world: UpgradeWorld, version: string): Promise<void> {
  const isUpgraded = () =>
    world.result.outcome === 'upgraded' && world.result.to?.version === version;
  await until(() => existsSync(`${world.folder}/result.json`) && isUpgraded());
  await until(() => processesWith('--apart', world.definition).length === 0);
  assert.equal(await world.rest(), version);
}

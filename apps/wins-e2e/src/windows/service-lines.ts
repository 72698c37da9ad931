import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { startProgram } from '../testing/built-program.js';
import { digest, release, type WindowsUpgradeWorld } from './windows-upgrade-world.js';

export const WINDOWS = process.env['SystemRoot'] ?? 'C:\\Windows';
const SC = path.join(WINDOWS, 'System32', 'sc.exe');
export const TO_NEXT = ['--path', release('v1.1.0')];

/** Registers the service with exactly this command line. */
export async function registerLine(world: WindowsUpgradeWorld, line: string): Promise<void> {
  copyFileSync(release('v1.0.0'), world.target);
  const words = ['create', world.service, 'binPath=', line];
  const { code, stdout } = await startProgram(SC, words, process.env).outcome;
  assert.equal(code, 0, stdout.toString());
  assert.equal(world.commandLine, line);
}

/** Asserts that the upgrade to v1.1.0 is complete, that the service has this command line, and that it starts with it after a power failure. */
export async function assertUpgraded(world: WindowsUpgradeWorld, line: string): Promise<void> {
  assert.equal(await world.rest(), 'v1.1.0');
  assert.equal(digest('sha1', world.target), digest('sha1', release('v1.1.0')));
  assert.equal(world.commandLine, line);
  assert.deepEqual(world.leftovers, []);
  await world.powerFails();
  assert.equal(await world.rest(), 'v1.1.0');
}

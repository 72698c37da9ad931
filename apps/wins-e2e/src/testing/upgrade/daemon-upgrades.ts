import { existsSync } from 'node:fs';
import { runWins, type Outcome } from '../built-program.js';
import { processesWith, until } from '../process-table.js';
import { singleFile } from './single-file.js';
import type { Result, UpgradeWorld } from './upgrade-world.js';

export function runHelper(
  world: UpgradeWorld,
  program: string,
  ...words: string[]
): Promise<Outcome> {
  const upgrader = world.workspace.write('wins-upgrade', program, 0o755);
  const run = ['cli', 'prc', 'run', '--server', world.pipe, '--path', upgrader, '--'];
  return runWins([...run, ...words], world.workspace.environment);
}

export function upgradeThroughDaemon(world: UpgradeWorld, program: string): Promise<Outcome> {
  return runHelper(world, program, 'up', '--json');
}

export function cliUpgrade(
  world: UpgradeWorld,
  program: string,
  ...args: string[]
): Promise<Outcome> {
  const upgrader = world.workspace.write('wins-upgrade', program, 0o755);
  return runWins(
    [
      'cli',
      'upgrade',
      '--server',
      world.pipe,
      '--path',
      upgrader,
      '--wait-timeout',
      '60s',
      ...args,
    ],
    world.workspace.environment,
  );
}

export function crashing(version: string): string {
  const crash = "\nif (process.argv.includes('run')) process.exit(7);\n";
  return singleFile(version).replace('\n', crash);
}

/** Waits for the end of a helper that continued outside its run. */
export async function helperResult(world: UpgradeWorld): Promise<Result> {
  await until(() => existsSync(`${world.folder}/result.json`));
  await until(() => processesWith('--apart', world.definition).length === 0);
  return world.result;
}

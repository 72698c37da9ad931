import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { NodeWorld } from './node-world.js';

export interface OtherService {
  readonly program: string;
  readonly args: readonly string[];
  readonly dependencies?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Registers and starts a service, as if it had been installed before wins. */
export async function startServiceOf(
  world: NodeWorld,
  name: string,
  { program, args, dependencies = [], environment = {} }: OtherService,
): Promise<ChildProcess> {
  const { system } = world;
  const command = [`"${program}"`, ...args].join(' ');
  const service = { command, startType: 'automatic', dependencies, environment };
  const services = { ...system.services, [name]: service };
  writeFileSync(world.path('system.json'), JSON.stringify({ ...system, services }));
  mkdirSync(world.runtimeDirectory, { recursive: true, mode: 0o700 });
  const { PATH } = process.env;
  const env = { PATH, WINS_RUNTIME_DIR: world.runtimeDirectory, ...environment };
  const child = spawn(program, [...args], { cwd: '/', stdio: 'ignore', detached: true, env });
  await once(child, 'spawn');
  // The node identifies a process by its PID and start time, so record both.
  const stat = readFileSync(`/proc/${child.pid ?? 0}/stat`, 'utf8');
  const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  writeFileSync(path.join(world.runtimeDirectory, `${name}.pid`), `${child.pid ?? 0} ${started}`);
  return child;
}

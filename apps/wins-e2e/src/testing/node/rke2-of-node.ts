import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { NodeWorld } from './node-world.js';

/** A service by the name of rke2 that runs on a node of the stand-in, as if it had been installed there. */
export class Rke2OfNode implements AsyncDisposable {
  readonly #world: NodeWorld;
  readonly #child: ChildProcess;

  private constructor(world: NodeWorld, child: ChildProcess) {
    this.#world = world;
    this.#child = child;
  }

  /** @param isDependent - Whether it starts only after the daemon. */
  static async start(world: NodeWorld, isDependent: boolean): Promise<Rke2OfNode> {
    const program = world.workspace.script('rke2', 'exec sleep infinity');
    const { system } = world;
    const rke2 = {
      ...{ command: `"${program}" agent`, startType: 'automatic', environment: {} },
      dependencies: isDependent ? ['rancher-wins'] : [],
    };
    const services = { ...system.services, rke2 };
    writeFileSync(world.path('system.json'), JSON.stringify({ ...system, services }));
    const child = spawn(program, { stdio: 'ignore' });
    await once(child, 'spawn');
    // As the stand-in remembers what runs: by PID and time of start.
    const stat = readFileSync(`/proc/${child.pid ?? 0}/stat`, 'utf8');
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
    mkdirSync(world.runtimeDirectory, { recursive: true, mode: 0o700 });
    writeFileSync(path.join(world.runtimeDirectory, 'rke2.pid'), `${child.pid ?? 0} ${started}`);
    return new Rke2OfNode(world, child);
  }

  /** What it depends on, as the service manager has it. */
  get dependencies(): readonly string[] {
    return this.#world.system.services['rke2']?.dependencies ?? [];
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isRunning) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}

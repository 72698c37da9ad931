import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { NodeWorld } from './node-world.js';
import { startServiceOf } from './service-of-node.js';

/** A running service named rke2. */
export class Rke2OfNode implements AsyncDisposable {
  readonly #world: NodeWorld;
  readonly #child: ChildProcess;

  private constructor(world: NodeWorld, child: ChildProcess) {
    this.#world = world;
    this.#child = child;
  }

  /** @param isDependent - Whether rke2 depends on the daemon. */
  static async start(world: NodeWorld, isDependent: boolean): Promise<Rke2OfNode> {
    const program = world.workspace.script('rke2', 'exec sleep infinity');
    const dependencies = isDependent ? ['rancher-wins'] : [];
    const child = await startServiceOf(world, 'rke2', { program, args: ['agent'], dependencies });
    return new Rke2OfNode(world, child);
  }

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

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../workspace.js';
import { nodeRelease } from './node-release.js';
import { NodeWorld } from './node-world.js';

/** Script that the release runs first. It counts the changes of a command, and kills the command at change number DIE_AT. */
const DEADLY = path.join(ROOT, 'tools', 'package', 'probe', 'die-at-change.cjs');

/** A node whose commands can be killed at any file change. */
export class DeadlyNode implements AsyncDisposable {
  readonly #world = new NodeWorld();
  readonly #release = nodeRelease(this.#world.workspace, undefined, readFileSync(DEADLY, 'utf8'));
  #before: Record<string, string> = {};

  static async start(): Promise<DeadlyNode> {
    const node = new DeadlyNode();
    await node.#say('install', '--dry-run');
    node.#before = node.#world.snapshot();
    return node;
  }

  async changesOf(command: 'install' | 'uninstall'): Promise<readonly string[]> {
    const log = this.#world.workspace.path(`${command}.log`);
    rmSync(log, { force: true });
    if (command === 'uninstall') await this.#say('install');
    await this.#world.wins([command], { DIE_LOG: log }, this.#release);
    await this.#say('uninstall');
    assert.deepEqual(this.#world.snapshot(), this.#before);
    return readFileSync(log, 'utf8').trimEnd().split('\n');
  }

  /** Kills an installation at a change. The next installation must succeed, and uninstalling must leave nothing. */
  async installAt(change: number): Promise<void> {
    await this.#die('install', change);
    const { code, reason } = await this.#say('install');
    assert.equal(code, 0, reason);
    assert.equal(readdirSync(this.#world.stateFolder).join(), 'install-manifest.json');
    assert.equal((await this.#say('install')).outcome, 'nothing');
    assert.equal((await this.#say('uninstall')).outcome, 'uninstalled');
    this.#assertEmpty();
  }

  /** Kills an uninstallation at change number `change`, counted from 1. The next uninstallation must succeed and leave nothing. */
  async uninstallAt(change: number): Promise<void> {
    await this.#say('install');
    await this.#die('uninstall', change);
    const { code, reason } = await this.#say('uninstall');
    assert.equal(code, 0, reason);
    this.#assertEmpty();
  }

  async #die(command: string, change: number): Promise<void> {
    const variables = { DIE_AT: String(change) };
    const { signal, code, stderr } = await this.#world.wins([command], variables, this.#release);
    assert.equal(
      signal,
      'SIGKILL',
      `change ${change} of ${command}: ended with ${code}: ${stderr}`,
    );
  }

  #assertEmpty(): void {
    assert.deepEqual(this.#world.snapshot(), this.#before);
    assert.equal(this.#world.pid, undefined);
    assert.equal(existsSync(this.#world.stateFolder), false);
  }

  #say(...args: readonly string[]): ReturnType<NodeWorld['say']> {
    return this.#world.say(args, {}, this.#release);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#world[Symbol.asyncDispose]();
  }
}

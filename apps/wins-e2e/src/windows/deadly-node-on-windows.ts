import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../testing/workspace.js';
import { NodeOnWindows, PLACES, type NodeReport } from './node-on-windows.js';
import { until } from './windows-workspace.js';

/** A release whose commands can be made to die at any change of the node, and its version. */
const DEADLY = path.join(ROOT, 'dist', 'deadly.exe');
const VERSION = 'v1.1.0';
/** The exit code of a process that Node ends on Windows. */
const KILLED = 1;

/** This machine as a node whose commands can be made to die at any change of a file, of the registry or of a service. */
export class DeadlyNodeOnWindows implements AsyncDisposable {
  readonly #node: NodeOnWindows;
  readonly #log: string;
  readonly #path: unknown;

  private constructor(node: NodeOnWindows) {
    this.#node = node;
    this.#log = node.workspace.path('changes.log');
    this.#path = node.machinePath.value;
  }

  /** A node on which nothing is installed. */
  static async start(): Promise<DeadlyNodeOnWindows> {
    return new DeadlyNodeOnWindows(await NodeOnWindows.start());
  }

  /** The changes that an installation makes, and those that its end makes, by name and place, in their order. */
  async changes(): Promise<Record<'install' | 'uninstall', readonly string[]>> {
    const changesOf = async (program: string, command: string): Promise<readonly string[]> => {
      rmSync(this.#log, { force: true });
      const { code, reason } = await this.#node.wins(program, [command], { DIE_LOG: this.#log });
      assert.equal(code, 0, reason);
      return this.#logged;
    };
    const install = await changesOf(DEADLY, 'install');
    const uninstall = await changesOf(PLACES.program, 'uninstall');
    await this.#assertEmpty();
    return { install, uninstall };
  }

  /** Has an installation die at a change, counted from 1; the next one makes it whole, and its end leaves nothing. */
  installAt(change: number): Promise<void> {
    return this.#at(change, DEADLY, 'install', async () => {
      const { code, reason } = await this.#say('install');
      assert.equal(code, 0, reason);
      assert.deepEqual(readdirSync(PLACES.stateFolder), ['install-manifest.json']);
      assert.equal(await this.#node.version(), VERSION);
      const again = await this.#say('install');
      assert.deepEqual([again.code, again.outcome], [0, 'nothing'], again.reason);
      await this.#uninstall();
    });
  }

  /** Has the installed program die at a change, counted from 1, while it takes the installation away; the next one leaves nothing. */
  async uninstallAt(change: number): Promise<void> {
    const { code, reason } = await this.#say('install');
    assert.equal(code, 0, reason);
    await this.#at(change, PLACES.program, 'uninstall', () => this.#uninstall());
  }

  get #logged(): readonly string[] {
    if (!existsSync(this.#log)) return [];
    return readFileSync(this.#log, 'utf8').trimEnd().split('\n');
  }

  async #at(
    change: number,
    program: string,
    command: string,
    next: () => Promise<void>,
  ): Promise<void> {
    rmSync(this.#log, { force: true });
    const variables = { DIE_AT: String(change), DIE_LOG: this.#log };
    const { code, outcome, reason } = await this.#node.wins(program, [command], variables);
    try {
      // It printed nothing, and changed nothing more.
      const found = { code, outcome, changes: this.#logged.length };
      assert.deepEqual(found, { code: KILLED, outcome: 'error', changes: change }, reason);
      await next();
    } catch (cause) {
      const last = `${change}, ${this.#logged.slice(-3).join(', ')}`;
      throw new Error(`${command} died at change ${last}: ${String(cause)}`, { cause });
    }
  }

  async #uninstall(): Promise<void> {
    const { code, kept, reason } = await this.#say('uninstall');
    assert.deepEqual([code, kept], [0, []], reason);
    await this.#assertEmpty();
  }

  async #assertEmpty(): Promise<void> {
    assert.deepEqual(this.#node.traces, []);
    assert.equal(this.#node.machinePath.value, this.#path);
    // A program that took itself away goes a moment later.
    await until(() => this.#node.movedPrograms.length === 0);
  }

  #say(command: string): Promise<NodeReport> {
    return this.#node.wins(DEADLY, [command]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#node[Symbol.asyncDispose]();
  }
}

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../testing/workspace.js';
import { NodeOnWindows, PLACES, type NodeReport } from './node-on-windows.js';
import { until } from './windows-workspace.js';

/** A release whose commands can be made to die at any change of the node, and its version. */
const DEADLY = path.join(ROOT, 'dist', 'deadly.exe');
const VERSION = 'v1.1.0';
/** Variables of an update that must leave the release as it is. */
const SKIP = { CATTLE_WINS_SKIP_BINARY_UPGRADE: 'true' };
/** Variables of an update that must change the config, and the release too. */
const UPDATE = { CATTLE_WINS_DEBUG: 'true' };
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
    const install = await this.#changesOf(DEADLY, 'install');
    const uninstall = await this.#changesOf(PLACES.program, 'uninstall');
    await this.#assertEmpty();
    return { install, uninstall };
  }

  /** The changes that an update to another config and another release makes. */
  async changesOfUpdate(): Promise<readonly string[]> {
    await this.#installOlder();
    const changes = await this.#changesOf(DEADLY, 'suc', UPDATE);
    await this.#uninstall();
    return changes;
  }

  /** Has an installation die at a change, counted from 1; the next one makes it whole, and its end leaves nothing. */
  installAt(change: number): Promise<void> {
    return this.#at(change, DEADLY, 'install', {}, async () => {
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
    await this.#at(change, PLACES.program, 'uninstall', {}, () => this.#uninstall());
  }

  /**
   * Has an update to another config and another release die at a change, counted from 1. The next one, which wants neither, ends it: the old
   * release or the new one serves. The same again is done, and the end of the installation leaves nothing.
   */
  async updateAt(change: number): Promise<void> {
    await this.#installOlder();
    await this.#at(change, DEADLY, 'suc', UPDATE, async () => {
      const next = await this.#node.wins(DEADLY, ['suc'], SKIP);
      assert.deepEqual([next.code, next.outcome], [0, 'nothing'], next.reason);
      assert.match(await this.#node.version(), /^v1\.[01]\.0$/);
      const { code, reason } = await this.#node.wins(DEADLY, ['suc'], UPDATE);
      assert.equal(code, 0, reason);
      assert.equal(await this.#node.version(), VERSION);
      assert.match(readFileSync(PLACES.config, 'utf8'), /debug: true/);
      assert.equal(this.#node.journalLines, 0);
      await this.#uninstall();
    });
  }

  async #installOlder(): Promise<void> {
    const { code, reason } = await this.#node.wins('v1.0.0', ['install']);
    assert.equal(code, 0, reason);
  }

  async #changesOf(
    program: string,
    command: string,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<readonly string[]> {
    rmSync(this.#log, { force: true });
    const all = { ...variables, DIE_LOG: this.#log };
    const { code, reason } = await this.#node.wins(program, [command], all);
    assert.equal(code, 0, reason);
    return this.#logged;
  }

  get #logged(): readonly string[] {
    if (!existsSync(this.#log)) return [];
    return readFileSync(this.#log, 'utf8').trimEnd().split('\n');
  }

  async #at(
    change: number,
    program: string,
    command: string,
    wanted: Readonly<Record<string, string>>,
    next: () => Promise<void>,
  ): Promise<void> {
    rmSync(this.#log, { force: true });
    const variables = { ...wanted, DIE_AT: String(change), DIE_LOG: this.#log };
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

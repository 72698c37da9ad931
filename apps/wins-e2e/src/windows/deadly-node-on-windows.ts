import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../testing/workspace.js';
import { NodeOnWindows, PATHS, type NodeReport } from './node-on-windows.js';
import { until } from './windows-workspace.js';

/** A release whose commands kill themselves at change number `DIE_AT`. */
const DEADLY = path.join(ROOT, 'dist', 'deadly.exe');
const VERSION = 'v1.1.0';
/** Makes `suc` keep the installed release. */
const SKIP = { CATTLE_WINS_SKIP_BINARY_UPGRADE: 'true' };
/** Makes `suc` change the config and the release. */
const UPDATE = { CATTLE_WINS_DEBUG: 'true' };
/** Exit code of a process that Node kills on Windows. */
const KILLED = 1;

/** A node whose commands kill themselves at a chosen change of a file, the registry or a service. */
export class DeadlyNodeOnWindows implements AsyncDisposable {
  readonly #node: NodeOnWindows;
  readonly #log: string;
  readonly #path: unknown;

  private constructor(node: NodeOnWindows) {
    this.#node = node;
    this.#log = node.workspace.path('changes.log');
    this.#path = node.machinePath.value;
  }

  static async start(): Promise<DeadlyNodeOnWindows> {
    return new DeadlyNodeOnWindows(await NodeOnWindows.start());
  }

  async changes(): Promise<Record<'install' | 'uninstall', readonly string[]>> {
    const install = await this.#changesOf(DEADLY, 'install');
    const uninstall = await this.#changesOf(PATHS.program, 'uninstall');
    await this.#assertEmpty();
    return { install, uninstall };
  }

  async changesOfUpdate(): Promise<readonly string[]> {
    await this.#installOlder();
    const changes = await this.#changesOf(DEADLY, 'suc', UPDATE);
    await this.#uninstall();
    return changes;
  }

  /**
   * Kills an installation at change number `change`, counted from 1. The next installation must complete the killed one, and uninstalling
   * must leave nothing.
   */
  installAt(change: number): Promise<void> {
    return this.#at(change, DEADLY, 'install', {}, async () => {
      const { code, reason } = await this.#say('install');
      assert.equal(code, 0, reason);
      assert.deepEqual(readdirSync(PATHS.stateFolder), ['install-manifest.json']);
      assert.equal(await this.#node.version(), VERSION);
      const again = await this.#say('install');
      assert.deepEqual([again.code, again.outcome], [0, 'nothing'], again.reason);
      await this.#uninstall();
    });
  }

  /** Kills an uninstallation at change number `change`, counted from 1. The next uninstallation must leave nothing. */
  async uninstallAt(change: number): Promise<void> {
    const { code, reason } = await this.#say('install');
    assert.equal(code, 0, reason);
    await this.#at(change, PATHS.program, 'uninstall', {}, () => this.#uninstall());
  }

  /**
   * Kills an update at change number `change`, counted from 1. The next command requests no update, but must recover. Either the old
   * or the new release then serves. A repeated update must succeed, and uninstalling must leave nothing.
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
      assert.match(readFileSync(PATHS.config, 'utf8'), /debug: true/);
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
    // A program that removes itself disappears a moment later.
    await until(() => this.#node.movedPrograms.length === 0);
  }

  #say(command: string): Promise<NodeReport> {
    return this.#node.wins(DEADLY, [command]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#node[Symbol.asyncDispose]();
  }
}

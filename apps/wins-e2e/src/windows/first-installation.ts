import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { startProgram } from '../testing/built-program.js';
import { digest, release, WindowsUpgradeWorld } from './windows-upgrade-world.js';

const NAME = 'rancher-wins';
const TARGET = path.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'wins.exe');

/** A node that has no service at first. Tests install the service with `wins up`, uninstall it, and install it again. */
export class FirstInstallation implements AsyncDisposable {
  readonly world = WindowsUpgradeWorld.empty(TARGET, NAME);
  readonly args = ['--path', release('v1.1.0'), '--wins-args', `--config "${this.world.config}"`];

  /** Refuses to run on a real node: the tests would replace its service. */
  constructor() {
    assert.deepEqual(this.found, [false, false, []]);
  }

  /** Whether the service and the program exist, and files that upgrades left. */
  get found(): [boolean, boolean, string[]] {
    return [this.#isThere(), existsSync(TARGET), this.world.leftovers];
  }

  async assertInstalled(): Promise<void> {
    assert.equal(await this.world.rest(), 'v1.1.0');
    const { commandLine, startType } = this.world.services.config(NAME);
    assert.equal(commandLine, `"${TARGET}" srv app run --config "${this.world.config}"`);
    assert.equal(startType, 'automatic');
    assert.equal(digest('sha1', TARGET), digest('sha1', release('v1.1.0')));
  }

  async uninstall(): Promise<void> {
    if (this.#isThere()) {
      const program = existsSync(TARGET) ? TARGET : release('v1.1.0');
      const words = ['srv', 'app', 'run', '--unregister'];
      const { code, stderr } = await startProgram(program, words, process.env).outcome;
      assert.equal(code, 0, stderr);
    }
    rmSync(TARGET, { force: true, maxRetries: 20, retryDelay: 100 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.uninstall();
    rmSync(this.world.folder, { recursive: true, force: true });
    await this.world[Symbol.asyncDispose]();
  }

  #isThere(): boolean {
    try {
      this.world.services.status(NAME);
      return true;
    } catch {
      return false;
    }
  }
}

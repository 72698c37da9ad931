import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { nodeRelease } from './node-release.js';
import { NodeWorld } from './node-world.js';

/**
 * What a release runs first: it counts what its commands change in the file system of the node, and dies by SIGKILL at the operation
 * that DIE_AT names: before it, or in the middle where it writes. DIE_LOG gets the name of each. The daemon is left alone.
 */
const DEADLY = `
if (args[0] !== 'srv' && args[0] !== 'cli' && (process.env.DIE_AT || process.env.DIE_LOG)) {
  const fs = require('node:fs');
  const promises = require('node:fs/promises');
  const { appendFileSync } = fs;
  const root = process.env.WINS_NODE_ROOT + '/';
  // Not what stands for the registry and the lock of a system, nor what every system has.
  const others = /^(run|node\\.lock|\\.?system\\.json|\\.\\w{6}(\\/|$)|(etc|usr|var\\/lib)$)/;
  const isMeant = (file) => typeof file === 'string' && file.startsWith(root) && !others.test(file.slice(root.length));
  let count = 0;
  const die = () => { process.kill(process.pid, 'SIGKILL'); for (;;); };
  const at = (name, file, half) => {
    count += 1;
    if (process.env.DIE_LOG) appendFileSync(process.env.DIE_LOG, name + ' ' + file.slice(root.length) + '\\n');
    if (count !== Number(process.env.DIE_AT)) return;
    if (half) return half();
    die();
  };
  const change = (module, name) => {
    const real = module[name];
    module[name] = (...list) => {
      const file = list.slice(0, 2).find(isMeant);
      if (file) at(name, file);
      return real.apply(module, list);
    };
  };
  for (const name of ['rename', 'unlink', 'rm', 'rmdir', 'mkdir', 'chmod', 'chown', 'writeFile', 'link', 'symlink']) {
    change(promises, name);
    change(fs, name + 'Sync');
  }
  const { O_WRONLY, O_RDWR, O_CREAT } = fs.constants;
  const isWrite = (flags) =>
    typeof flags === 'number' ? (flags & (O_WRONLY | O_RDWR | O_CREAT)) !== 0 : flags !== undefined && flags !== 'r';
  const halfOf = (fd, bytes, position) => Buffer.isBuffer(bytes) && (() => {
    fs.writeSync(fd, bytes, 0, Math.floor(bytes.length / 2), position);
    die();
  });
  const { open } = promises;
  promises.open = async (file, flags, ...more) => {
    if (isMeant(file) && isWrite(flags)) at('open', file);
    const handle = await open(file, flags, ...more);
    if (!isMeant(file)) return handle;
    for (const name of ['write', 'sync', 'truncate', 'chmod', 'chown']) {
      const real = handle[name];
      handle[name] = async (...list) => {
        at(name, file, name === 'write' && halfOf(handle.fd, list[0], list[3]));
        return real.apply(handle, list);
      };
    }
    return handle;
  };
  // Where the number of an open file is what is written to.
  const { promisify } = require('node:util');
  const files = new Map();
  for (const name of ['open', 'write', 'fchown', 'fchmod', 'fsync', 'rename', 'unlink']) {
    const callback = fs[name];
    const real = promisify(callback);
    fs[name] = (...list) => callback.apply(fs, list);
    fs[name][promisify.custom] = async (first, ...list) => {
      const file = typeof first === 'number' ? files.get(first) : first;
      const isCounted = isMeant(file) && (name !== 'open' || isWrite(list[0]));
      if (isCounted) at(name, file, name === 'write' && halfOf(first, list[0], list[3]));
      const result = await real(first, ...list);
      if (name === 'open') files.set(result, file);
      return result;
    };
  }
}
`;

/** A node whose commands can be made to die at any change of a file. */
export class DeadlyNode implements AsyncDisposable {
  readonly #world = new NodeWorld();
  readonly #release = nodeRelease(this.#world.workspace, undefined, DEADLY);
  #before: Record<string, string> = {};

  /** A node on which nothing is installed. */
  static async start(): Promise<DeadlyNode> {
    const node = new DeadlyNode();
    await node.#say('install', '--dry-run');
    node.#before = node.#world.snapshot();
    return node;
  }

  /** The changes that a command makes, by name and place, in their order. */
  async changesOf(command: 'install' | 'uninstall'): Promise<readonly string[]> {
    const log = this.#world.workspace.path(`${command}.log`);
    rmSync(log, { force: true });
    if (command === 'uninstall') await this.#say('install');
    await this.#world.wins([command], { DIE_LOG: log }, this.#release);
    await this.#say('uninstall');
    assert.deepEqual(this.#world.snapshot(), this.#before);
    return readFileSync(log, 'utf8').trimEnd().split('\n');
  }

  /** Has an installation die at a change; the next one makes it whole, and its end leaves nothing. */
  async installAt(change: number): Promise<void> {
    await this.#die('install', change);
    const { code, reason } = await this.#say('install');
    assert.equal(code, 0, reason);
    assert.equal(readdirSync(this.#world.stateFolder).join(), 'install-manifest.json');
    assert.equal((await this.#say('install')).outcome, 'nothing');
    assert.equal((await this.#say('uninstall')).outcome, 'uninstalled');
    this.#assertEmpty();
  }

  /** Has the end of an installation die at a change; the next one leaves nothing. */
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

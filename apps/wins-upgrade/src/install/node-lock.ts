import { enterPrivateFolder, findPaths } from '@wins/service-upgrade';
import type { NodeParts } from '../node-of-system.js';

/** Takes the node's lock and, if there is a service, the lock of `wins up`. */
export class NodeLock {
  readonly name = 'this node';
  readonly #parts: NodeParts;
  #ofProgram: AsyncDisposable | undefined;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  readonly lock = async (): Promise<AsyncDisposable | undefined> => {
    const { lockNode, upgrade } = this.#parts;
    const ofNode = await lockNode();
    if (ofNode === undefined) return undefined;
    const close = async (): Promise<void> => {
      await this.letGoOfProgram();
      await ofNode[Symbol.asyncDispose]();
    };
    try {
      if ((await upgrade.service.query()) === undefined) return { [Symbol.asyncDispose]: close };
      this.#ofProgram = await this.#lockProgram();
      if (this.#ofProgram !== undefined) return { [Symbol.asyncDispose]: close };
    } catch (error) {
      await close();
      throw error;
    }
    await close();
    return undefined;
  };

  async #lockProgram(): Promise<AsyncDisposable | undefined> {
    const { upgrade } = this.#parts;
    const lock = await upgrade.service.lock();
    if (lock === undefined) return undefined;
    try {
      const status = await upgrade.service.query();
      if (status === undefined) return lock;
      const folder = await enterPrivateFolder(upgrade, await findPaths(upgrade.service, status));
      const close = async (): Promise<void> => {
        await folder[Symbol.asyncDispose]();
        await lock[Symbol.asyncDispose]();
      };
      return { [Symbol.asyncDispose]: close };
    } catch (error) {
      await lock[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * Releases the lock on the program, which is the lock of `wins up`. The upgrade folder, which contains the lock file, can then be
   * removed. The lock on the node stays held.
   */
  async letGoOfProgram(): Promise<void> {
    await this.#ofProgram?.[Symbol.asyncDispose]();
    this.#ofProgram = undefined;
  }
}

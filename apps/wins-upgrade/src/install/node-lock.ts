import type { InstallLock } from '@wins/node-install';
import type { NodeParts } from './node-parts.js';

/** The right to change a node: that of the node, and that of `wins up` where there is a service. */
export class NodeLock {
  readonly #parts: NodeParts;
  #ofProgram: InstallLock | undefined;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  /** Undefined while another process has one of the two. */
  async take(): Promise<InstallLock | undefined> {
    const { lockNode, upgrade } = this.#parts;
    if (lockNode === undefined) return await upgrade.service.lock();
    const ofNode = await lockNode();
    if (ofNode === undefined) return undefined;
    const close = async (): Promise<void> => {
      await this.letGoOfProgram();
      await ofNode.close();
    };
    try {
      if ((await upgrade.service.query()) === undefined) return { close };
      this.#ofProgram = await upgrade.service.lock();
      if (this.#ofProgram !== undefined) return { close };
    } catch (error) {
      await close();
      throw error;
    }
    await close();
    return undefined;
  }

  /** Gives back what `wins up` would take: its file is in the way when the program is removed. The lock of the node is enough then. */
  async letGoOfProgram(): Promise<void> {
    await this.#ofProgram?.close();
    this.#ofProgram = undefined;
  }
}

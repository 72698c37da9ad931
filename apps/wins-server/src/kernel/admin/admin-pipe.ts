import type { ClientIdentity } from '@wins/base';
import { ServedPipe, type PipeParts } from '../served-pipe.js';

/** The pipe of administrators. The daemon serves without it: one that cannot be opened is an error in the log. */
export class AdminPipe implements AsyncDisposable {
  readonly #parts: PipeParts;
  readonly #served: ServedPipe;
  #isClosing = false;
  #opening: Promise<boolean> | undefined;

  constructor(parts: PipeParts) {
    this.#parts = parts;
    const { resources } = parts;
    this.#served = new ServedPipe({
      ...parts,
      ...{ kind: 'admin', what: 'pipe of administrators' },
      resources: {
        ...resources,
        connections: resources.adminConnections,
        handshakes: resources.adminHandshakes,
        requestOctets: resources.adminRequestOctets,
        answerOctets: resources.adminAnswerOctets,
      },
    });
    this.#served.open();
  }

  /** Opens it, if it is not open; resolves when that was tried, and never rejects. Called again it tries again what failed. */
  async open(): Promise<void> {
    if (this.#isClosing) return;
    const opening = (this.#opening ??= this.#tryToOpen());
    if (!(await opening) && this.#opening === opening) this.#opening = undefined;
  }

  /** The client of the connection of that name; undefined when it is not open. */
  clientNamed(name: string): ClientIdentity | undefined {
    return this.#served.connections.clientNamed(name);
  }

  /** Breaks off what is under way, and closes it for good. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await this.#opening;
    await this.#served.drain(0);
    await this.#served.close();
  }

  async #tryToOpen(): Promise<boolean> {
    const { pipe, logger } = this.#parts;
    try {
      await this.#served.listen();
      return true;
    } catch (err) {
      logger.error(
        { err, pipe },
        'cannot serve the pipe of administrators; reading the config again tries again',
      );
      return false;
    }
  }
}

import type { ClientIdentity } from '@wins/base';
import type { Logger } from './log/logger.js';
import type { Callers } from './rpc/administrators-only.js';
import type { Connections } from './rpc/connections.js';
import { ServedPipe, type PipeParts } from './served-pipe.js';

/** A failure to open this pipe is only logged, because the daemon can serve without it. */
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
      kind: 'admin',
      what: 'pipe of administrators',
      resources: {
        ...resources,
        connections: resources.adminConnections,
        handshakes: resources.adminHandshakes,
        requestOctets: resources.adminRequestOctets,
        answerOctets: resources.adminAnswerOctets,
        // Fewer waits than connections, so that waits alone cannot block a call that stops a run.
        waits: resources.followers,
      },
    });
    this.#served.open();
  }

  /** Never rejects: a failure is logged, and the next call tries again. */
  async open(): Promise<void> {
    if (this.#isClosing) return;
    const opening = (this.#opening ??= this.#tryToOpen());
    if (!(await opening) && this.#opening === opening) this.#opening = undefined;
  }

  clientNamed(name: string): ClientIdentity | undefined {
    return this.#served.connections.clientNamed(name);
  }

  /** Aborts pending calls, and closes the pipe for good. Idempotent. */
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
        'cannot serve the pipe of administrators; a reload of the config tries again',
      );
      return false;
    }
  }
}

/** Maximum number of client names that cause a warning. Administrators can choose any name, so they could otherwise flood the log. */
const MOST_CLIENTS = 32;

/** Warns once about each administrator on the main pipe, because that use is deprecated. */
export function noteAdministrators(
  connections: Pick<Connections, 'clientOf' | 'ownerOf'>,
  logger: Logger,
  adminPipe: string,
): Callers {
  const noted = new Set<string>();
  return {
    clientOf: (caller) => connections.clientOf(caller),
    ownerOf: (caller) => connections.ownerOf(caller),
    administered: (caller) => {
      const { label = 'a client without a name' } = connections.ownerOf(caller);
      if (noted.has(label) || noted.size >= MOST_CLIENTS) return;
      noted.add(label);
      logger.warn(
        { client: label, adminPipe },
        'deprecated: an administrator used the pipe of containers; use the pipe of administrators, as this release does',
      );
    },
  };
}

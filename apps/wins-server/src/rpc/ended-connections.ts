import type { EndReason } from '@wins/http2-connection';
import type { Logger } from '../log/logger.js';

/** Lines per second; what is more is counted. */
const LINES_PER_SECOND = 10;
/** Ends that say nothing of the client. */
const ORDINARY: ReadonlySet<EndReason> = new Set(['clientGone', 'closed', 'idle']);

/** Tells which connections were ended for what they did, and no more often than a log bears. */
export class EndedConnections implements Disposable {
  #told = 0;
  readonly #untold = new Map<EndReason, number>();
  #second: NodeJS.Timeout | undefined;

  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  ended(peer: string, reason: EndReason): void {
    if (ORDINARY.has(reason)) return;
    this.#second ??= setTimeout(() => this.#nextSecond(), 1000).unref();
    if (this.#told < LINES_PER_SECOND) {
      this.#told += 1;
      this.#logger.info({ peer, reason }, 'connection ended');
    } else {
      this.#untold.set(reason, (this.#untold.get(reason) ?? 0) + 1);
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#second);
    this.#nextSecond();
  }

  #nextSecond(): void {
    this.#second = undefined;
    this.#told = 0;
    if (this.#untold.size === 0) return;
    this.#logger.info({ reasons: Object.fromEntries(this.#untold) }, 'more connections ended');
    this.#untold.clear();
  }
}

import type { EndReason } from '@wins/http2-connection';
import type { Logger } from '../log/logger.js';

/** Lines per second; more connections are counted. */
const LINES_PER_SECOND = 10;
/** Ends that say nothing about the client. */
const ORDINARY: ReadonlySet<EndReason> = new Set(['clientGone', 'closed', 'idle']);

/** Logs which connections were ended for what they did: ten lines a second, then the number of each reason. */
export class EndedConnections implements Disposable {
  #lines = 0;
  readonly #counts = new Map<EndReason, number>();
  #second: NodeJS.Timeout | undefined;

  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  ended(peer: string, reason: EndReason): void {
    if (ORDINARY.has(reason)) return;
    this.#second ??= setTimeout(() => this.#nextSecond(), 1000).unref();
    if (this.#lines < LINES_PER_SECOND) {
      this.#lines += 1;
      this.#logger.info({ peer, reason }, 'connection ended');
    } else {
      this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#second);
    this.#nextSecond();
  }

  #nextSecond(): void {
    this.#second = undefined;
    this.#lines = 0;
    if (this.#counts.size === 0) return;
    this.#logger.info({ reasons: Object.fromEntries(this.#counts) }, 'more connections ended');
    this.#counts.clear();
  }
}

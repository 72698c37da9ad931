import type { TracingSettings, WinsConfig } from '@wins/config';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../log/logger.js';
import type { DaemonEvents } from '../../kernel/daemon-events.js';
import { features } from '../../load-features.js';
import type { RunningTracing } from './start-tracing.js';

/** What the switch works with. */
export interface TracingSwitchOptions {
  readonly logger: Logger;
  readonly events: DaemonEvents;
}

/** Turns tracing on and off, as the config says. Whatever becomes of the collector, the daemon serves and waits for nothing. */
export class TracingSwitch implements AsyncDisposable {
  readonly #options: TracingSwitchOptions;
  #wanted: TracingSettings | undefined;
  #running: RunningTracing | undefined;
  // One change at a time, the newest last.
  #changes = Promise.resolve();

  constructor(options: TracingSwitchOptions) {
    this.#options = options;
  }

  /** Applies these settings. The same settings again change nothing. */
  apply({ tracing: wanted }: Pick<WinsConfig, 'tracing'>): void {
    if (isDeepStrictEqual(wanted, this.#wanted)) return;
    this.#wanted = wanted;
    this.#changes = this.#changes.then(() => this.#become(wanted));
  }

  /** Turns it off for good; what waits is sent, for 2 s at most. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.apply({});
    await this.#changes;
  }

  async #become(wanted: TracingSettings | undefined): Promise<void> {
    const { logger, events } = this.#options;
    await this.#running?.close();
    if (this.#running !== undefined) logger.info('no spans are sent any more');
    this.#running = undefined;
    if (wanted === undefined) return;
    const { endpoint } = wanted;
    const onChange = (isTaken: boolean, err?: Error): void => {
      if (isTaken) logger.info({ endpoint }, 'the collector takes spans');
      else logger.warn({ endpoint, err }, 'the collector takes no spans: they are dropped');
    };
    try {
      this.#running = features().tracing().startTracing({ endpoint, events, onChange });
      logger.info({ endpoint }, 'calls of clients that trace are sent as spans');
    } catch (err) {
      logger.error({ err }, 'cannot send spans');
    }
  }
}

import type { MetricsSettings, WinsConfig } from '@wins/config';
import { Backoff } from '@wins/time';
import { messageOf } from '@wins/wins-program';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../log/logger.js';
import { features, type Features } from '../../load-features.js';
import type { MetricsSources, RunningMetrics } from './metrics-sources.js';

/** What the switch works with. */
export interface MetricsSwitchOptions {
  readonly logger: Logger;
  /** Asked when metrics are turned on. */
  readonly sources: () => MetricsSources;
  /** Default: the program beside this one. */
  readonly load?: Features['metrics'];
}

/**
 * Turns the metrics on and off, as the config says. What is counted is counted from the call of {@link apply} on. Whatever becomes of the
 * listener, the daemon serves: an address that cannot be had is tried again, ever more slowly, and the pipe answers meanwhile.
 */
export class MetricsSwitch implements AsyncDisposable {
  readonly #options: MetricsSwitchOptions;
  #wanted: MetricsSettings | undefined;
  #running: RunningMetrics | undefined;
  #failure: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  readonly #backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000, jitter: 0 });
  // One change at a time, the newest last.
  #changes = Promise.resolve();

  constructor(options: MetricsSwitchOptions) {
    this.#options = options;
  }

  /** Undefined while no metrics are kept. */
  get running(): Pick<RunningMetrics, 'scrape'> | undefined {
    return this.#running;
  }

  /** Why none are kept. */
  get reason(): string {
    return this.#failure ?? 'the config has no section metrics';
  }

  /** Applies these settings. The same settings again change nothing. */
  apply({ metrics: wanted }: Pick<WinsConfig, 'metrics'>): void {
    if (isDeepStrictEqual(wanted, this.#wanted)) return;
    this.#wanted = wanted;
    this.#backoff.reset();
    if (wanted !== undefined) this.#begin();
    this.#change();
  }

  /** Turns them off for good. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#wanted = undefined;
    this.#change();
    await this.#changes;
  }

  #change(): void {
    clearTimeout(this.#retry);
    const wanted = this.#wanted;
    this.#changes = this.#changes.then(() => this.#become(wanted));
  }

  #begin(): RunningMetrics | undefined {
    const { load = () => features().metrics(), logger, sources } = this.#options;
    try {
      this.#running ??= load().startMetrics(sources());
      this.#failure = undefined;
    } catch (err) {
      this.#failure = `they cannot be kept: ${messageOf(err)}`;
      logger.error({ err }, 'cannot keep metrics');
    }
    return this.#running;
  }

  async #become(wanted: MetricsSettings | undefined): Promise<void> {
    const { logger } = this.#options;
    if (wanted === undefined) {
      const ending = this.#running;
      this.#running = undefined;
      await ending?.close();
      if (ending !== undefined) logger.info('no metrics are kept any more');
      return;
    }
    try {
      const address = await this.#begin()?.listen(wanted);
      if (address !== undefined) logger.info({ address }, 'metrics are served');
    } catch (err) {
      const retryMs = this.#backoff.nextMs();
      logger.error({ err, retryMs }, 'cannot serve metrics');
      if (this.#wanted !== wanted) return;
      this.#retry = setTimeout(() => this.#change(), retryMs).unref();
    }
  }
}

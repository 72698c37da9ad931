import { Serial } from '@wins/base';
import { forgetReplaced, keepLastGood, type KeepTrust, type LoadedConfig } from '@wins/config';
import type { Logger } from '../kernel/log/logger.js';

const LOOK_EVERY_MS = 1000;

export interface ConfigKeeperOptions {
  readonly trust: KeepTrust;
  readonly logger: Logger;
  /** True when this daemon may store a config. A daemon on trial may not: after a rollback the previous daemon needs its own config. */
  readonly isProven: () => boolean;
}

/** Stores each config that comes into force, for a later start with an unusable config file. A failure is only logged. */
export class ConfigKeeper implements AsyncDisposable {
  readonly #options: ConfigKeeperOptions;
  #wanted: LoadedConfig | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #writes = new Serial();

  constructor(options: ConfigKeeperOptions) {
    this.#options = options;
  }

  /** Stores the config once the daemon is no longer on trial, unless a newer config replaces it first. */
  keep(loaded: LoadedConfig): void {
    this.#wanted = loaded;
    this.#next();
  }

  /** Writes a waiting config if the daemon is proven. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#next();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#writes.idle();
  }

  #next(): void {
    clearTimeout(this.#timer);
    if (this.#wanted === undefined) return;
    if (this.#options.isProven()) void this.#writes.run(() => this.#write());
    else this.#timer = setTimeout(() => this.#next(), LOOK_EVERY_MS).unref();
  }

  async #write(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted === undefined) return;
    const { trust, logger } = this.#options;
    try {
      await keepLastGood(wanted, trust);
      // Remove the copies of old configs that `wins cli deliver` saved for the previous daemon. This daemon does not need them, because it
      // falls back to the config just stored.
      await forgetReplaced(wanted.path);
    } catch (err) {
      const lost = 'a start with an invalid file has nothing to fall back to';
      logger.warn(
        { err, config: wanted.path },
        `cannot keep a copy of the config in force: ${lost}`,
      );
    }
  }
}

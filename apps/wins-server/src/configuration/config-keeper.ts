import { forgetReplaced, keepLastGood, type KeepTrust, type LoadedConfig } from '@wins/config';
import type { Logger } from '../kernel/log/logger.js';

const LOOK_EVERY_MS = 1000;

export interface ConfigKeeperOptions {
  readonly trust: KeepTrust;
  readonly logger: Logger;
  /** Whether this daemon may keep a config: on trial it may be taken back, and the one before it needs the config that it had. */
  readonly isProven: () => boolean;
}

/** Keeps each config that takes effect, so that a start finds it when the file cannot be used. A failure is logged: the daemon serves. */
export class ConfigKeeper implements AsyncDisposable {
  readonly #options: ConfigKeeperOptions;
  #wanted: LoadedConfig | undefined;
  #timer: NodeJS.Timeout | undefined;
  #keeping: Promise<void> = Promise.resolve();

  constructor(options: ConfigKeeperOptions) {
    this.#options = options;
  }

  /** Keeps this one, as soon as this daemon may. The newest counts. */
  keep(loaded: LoadedConfig): void {
    this.#wanted = loaded;
    this.#next();
  }

  /** Writes what is still to be kept, unless this daemon may not. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#next();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#keeping;
  }

  #next(): void {
    clearTimeout(this.#timer);
    if (this.#wanted === undefined) return;
    if (this.#options.isProven()) this.#keeping = this.#keeping.then(() => this.#write());
    else this.#timer = setTimeout(() => this.#next(), LOOK_EVERY_MS).unref();
  }

  async #write(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted === undefined) return;
    const { trust, logger } = this.#options;
    try {
      await keepLastGood(wanted, trust);
      // This daemon goes back to what it keeps; what deliveries kept was for the daemon before.
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

import type { UpgradeSettings } from '@wins/config';
import { ProgramWatch, watchedPath, type WatchOptions } from '@wins/service-upgrade';
import type { Logger } from '../../log/logger.js';
import { thisSystem } from '../../this-system.js';
import { loadUpgrader } from './upgrader.js';

interface SwitchOptions extends Pick<WatchOptions, 'runningFile' | 'runningSha1' | 'audit'> {
  readonly service: string | undefined;
  readonly logger: Logger;
}

/** Turns the watch on and off, as the config says. When it is off there is no timer, and no file is touched. */
export class UpgradeSwitch implements AsyncDisposable {
  #watch: ProgramWatch | undefined;
  /** The file that the config wants watched. */
  #wanted: string | undefined;
  // One change at a time, the newest last.
  #changes = Promise.resolve();

  readonly #options: SwitchOptions;

  /** @param options - `service` is undefined for a daemon that is not a service: nothing would start its successor. */
  constructor(options: SwitchOptions) {
    this.#options = options;
  }

  /** Applies these settings. The same settings again change nothing. */
  apply({ mode, watchingPath }: UpgradeSettings): void {
    const wanted = mode === 'watching' ? watchingPath : undefined;
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    this.#changes = this.#changes
      .then(() => this.#change(wanted))
      .catch((err: unknown) => this.#options.logger.error({ err }, 'cannot watch for an upgrade'));
  }

  /** Turns it off for good. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#wanted = undefined;
    await (this.#changes = this.#changes.then(() => this.#change(undefined)));
  }

  async #change(wanted: string | undefined): Promise<void> {
    const { logger, service, ...options } = this.#options;
    if (this.#watch !== undefined) {
      await this.#watch.close();
      this.#watch = undefined;
      logger.info('no file is watched for an upgrade any more');
    }
    if (wanted === undefined) return;
    const fields = { key: 'upgrade.watchingPath', file: wanted };
    if (service === undefined) {
      logger.warn(fields, 'no file is watched for an upgrade: this daemon is not a service');
    } else {
      // A config with a path that is not absolute was refused.
      const file = watchedPath(wanted, process.platform) ?? wanted;
      const guard = (await thisSystem()).processHost();
      const rest = { ...options, guard, logger, service, upgrader: loadUpgrader };
      this.#watch = new ProgramWatch({ ...rest, file });
      logger.info(fields, 'a file is watched for an upgrade');
    }
  }
}

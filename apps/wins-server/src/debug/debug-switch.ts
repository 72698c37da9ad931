import type { WinsConfig } from '@wins/config';
import { debugPipeOf } from '../commands/debug/debug-pipe-of.js';
import { openDebugEndpoint, type DebugEndpointOptions } from './debug-endpoint.js';

/** What the switch works with. */
export interface DebugSwitchOptions extends Omit<DebugEndpointOptions, 'pipe'> {
  /** The pipe of the API: that of diagnosis is named after it. */
  readonly listen: string;
}

/**
 * Turns the pipe of diagnosis on and off, as the config says. The daemon serves without it: a pipe that cannot be opened is an error in the
 * log.
 */
export class DebugSwitch implements AsyncDisposable {
  readonly #options: DebugSwitchOptions;
  #isWanted = false;
  #isClosing = false;
  #endpoint: AsyncDisposable | undefined;
  // One change at a time, the newest last.
  #changes = Promise.resolve();

  constructor(options: DebugSwitchOptions) {
    this.#options = options;
  }

  /** Applies the config; resolves when that is done, and never rejects. The same again changes nothing, but tries again what failed. */
  async apply({ debugPipe }: Pick<WinsConfig, 'debugPipe'>): Promise<void> {
    if (this.#isClosing) return;
    this.#isWanted = debugPipe;
    this.#change();
    await this.#changes;
  }

  /** Turns it off for good. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#isWanted = false;
    this.#change();
    await this.#changes;
  }

  #change(): void {
    this.#changes = this.#changes.then(() => this.#become(this.#isWanted));
  }

  async #become(isWanted: boolean): Promise<void> {
    if (isWanted === (this.#endpoint !== undefined)) return;
    const { logger, listen } = this.#options;
    const pipe = debugPipeOf(listen);
    try {
      const endpoint = this.#endpoint;
      this.#endpoint = undefined;
      await endpoint?.[Symbol.asyncDispose]();
      if (isWanted) this.#endpoint = await openDebugEndpoint({ ...this.#options, pipe });
      logger.debug({ pipe, isOpen: isWanted }, 'the debug pipe');
    } catch (err) {
      logger.error(
        { err, pipe },
        'cannot serve or close the debug pipe: "wins srv debug" does not work',
      );
    }
  }
}

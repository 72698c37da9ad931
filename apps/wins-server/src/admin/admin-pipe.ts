import { openAdminEndpoint, type AdminEndpointOptions } from './admin-endpoint.js';

/** The pipe of administrators. The daemon serves without it: one that cannot be opened is an error in the log. */
export class AdminPipe implements AsyncDisposable {
  readonly #options: AdminEndpointOptions;
  #isClosing = false;
  #endpoint: Promise<AsyncDisposable | undefined> | undefined;

  constructor(options: AdminEndpointOptions) {
    this.#options = options;
  }

  /** Opens it, if it is not open; resolves when that was tried, and never rejects. Called again it tries again what failed. */
  async open(): Promise<void> {
    if (this.#isClosing) return;
    const opening = (this.#endpoint ??= this.#tryToOpen());
    if ((await opening) === undefined && this.#endpoint === opening) this.#endpoint = undefined;
  }

  /** Closes it for good. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await (await this.#endpoint)?.[Symbol.asyncDispose]();
  }

  async #tryToOpen(): Promise<AsyncDisposable | undefined> {
    const { pipe, logger } = this.#options;
    try {
      const endpoint = await openAdminEndpoint(this.#options);
      logger.debug({ pipe }, 'the pipe of administrators is open');
      return endpoint;
    } catch (err) {
      logger.error(
        { err, pipe },
        'cannot serve the pipe of administrators; reading the config again tries again',
      );
      return undefined;
    }
  }
}

import { messageOf } from '@wins/wins-program';
import { Session } from 'node:inspector';
import { FeatureError } from '../../kernel/feature-error.js';

/**
 * A session with the inspector of this process: no port is opened, and nobody else can join it. Disposing ends it, and with it whatever
 * was recorded.
 * https://chromedevtools.github.io/devtools-protocol/v8/
 */
export class InspectorSession implements Disposable {
  readonly #session = new Session();
  readonly #tried: string;

  /** @param tried - For the message of an error: `record a profile`. */
  constructor(tried: string) {
    this.#tried = tried;
    this.#session.connect();
  }

  /** @throws FeatureError `unavailable` for what this Node does not know or refuses. */
  ask<Answer = unknown>(method: string, parameters: object = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#session.post(method, parameters, (error: unknown, answer?: object) => {
        if (error === null) resolve(answer as Answer);
        else reject(this.#failure(method, error));
      });
    });
  }

  /** Hears an event of the inspector until the session ends. */
  on(event: string, told: (parameters: unknown) => void): void {
    this.#session.on(event, (message: { readonly params: unknown }) => told(message.params));
  }

  /** Idempotent. */
  [Symbol.dispose](): void {
    this.#session.disconnect();
    this.#session.removeAllListeners();
  }

  #failure(method: string, cause: unknown): FeatureError {
    // The inspector answers with an object that is no error.
    const said =
      cause instanceof Error || typeof cause !== 'object' || cause === null || !('message' in cause)
        ? messageOf(cause)
        : String(cause.message);
    const message = `cannot ${this.#tried}: found that ${method} failed: ${said}; wanted a Node that can`;
    return new FeatureError('unavailable', message, { cause });
  }
}

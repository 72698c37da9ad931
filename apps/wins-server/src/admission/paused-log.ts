import type { Logger } from '../log/logger.js';
import type { ClientDescription, ClientIdentity } from './client-identity.js';
import { Tally } from './tally.js';

/** Logs which clients were not read because they used too much processor time: the first time at once, then the number of each second. */
export class PausedLog implements Disposable {
  readonly #tally: Tally<{ readonly client: ClientDescription }>;

  constructor(logger: Logger) {
    this.#tally = new Tally((facts, times) =>
      logger.warn({ ...facts, times }, 'a client was paused: it used its share of the processor'),
    );
  }

  readonly add = ({ key, description: client }: ClientIdentity): void =>
    this.#tally.add(key, { client });

  [Symbol.dispose](): void {
    this.#tally[Symbol.dispose]();
  }
}

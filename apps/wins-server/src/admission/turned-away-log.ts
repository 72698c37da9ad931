import type { Logger } from '../log/logger.js';
import type { ClientDescription, ClientIdentity } from './client-identity.js';
import type { TurnedAway } from './places.js';
import { Tally } from './tally.js';

interface Facts {
  readonly why: TurnedAway;
  readonly client: ClientDescription;
}

/** Tells of connections that were turned away, by client and reason: at once, then the number of each second. */
export class TurnedAwayLog implements Disposable {
  readonly #tally: Tally<Facts>;

  constructor(pipe: 'gRPC' | 'tunnel', logger: Logger) {
    this.#tally = new Tally((facts, times) =>
      logger.warn({ pipe, ...facts, times }, 'connections were turned away'),
    );
  }

  readonly add = ({ key, description: client }: ClientIdentity, why: TurnedAway): void =>
    this.#tally.add(`${why} ${key}`, { why, client });

  [Symbol.dispose](): void {
    this.#tally[Symbol.dispose]();
  }
}

import type { ClientIdentity } from '@wins/base';
import type { Duplex } from 'node:stream';
import type { Claim, LimitReason, Shares } from './shares.js';

export type TurnedAway =
  /** A new connection arrived before this one had sent its preface. */
  | 'slow-greeting'
  /** A new connection arrived while this one had no call. */
  | 'idle'
  /** A new connection arrived, and this client holds the most connections. */
  | 'most-held'
  /** The client reached its own limit. */
  | 'client-limit'
  | 'full';

export interface SlotsOptions {
  /** Limits connections before their preface. */
  readonly handshakes: Shares;
  /** Limits connections after their preface. */
  readonly connections: Shares;
  /** Called for each connection that `Slots` closes. A hostile client can cause many calls. */
  readonly turnedAway: (client: ClientIdentity, why: TurnedAway) => void;
}

/** Permission of a connection to stay open. The end of the connection releases it. */
export interface Slot {
  /** Marks the connection as established. If no capacity is left, closes it and returns false. */
  settle(): boolean;
  /** Marks the beginning of a call. If a client must lose connections, those without a call are closed first. */
  begin(): void;
  end(): void;
}

export class Slots {
  readonly #options: SlotsOptions;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#options.handshakes.held + this.#options.connections.held;
  }

  enter(connection: Duplex, client: ClientIdentity): Slot {
    const { handshakes, connections, turnedAway } = this.#options;
    let calls = 0;
    let claim: Claim | undefined;
    const away = (why: TurnedAway): void => {
      claim = undefined;
      connection.destroy();
      turnedAway(client, why);
    };
    claim = handshakes.take(client, {
      end: () => away('slow-greeting'),
      isIdle: () => true,
    });
    connection.once('close', () => {
      claim?.release();
      claim = undefined;
    });
    return {
      settle: () => {
        if (claim === undefined) return false;
        claim.release();
        let isSettled = false;
        const end = (why: LimitReason): void => {
          if (!isSettled) away(why === 'share' ? 'client-limit' : 'full');
          else away(calls === 0 ? 'idle' : 'most-held');
        };
        claim = connections.take(client, { end, isIdle: () => isSettled && calls === 0 });
        isSettled = claim !== undefined;
        return isSettled;
      },
      begin: () => void (calls += 1),
      end: () => void (calls -= 1),
    };
  }
}

import type { Duplex } from 'node:stream';
import type { ClientIdentity } from '@wins/base';
import type { Claim, LimitReason, Shares } from './shares.js';

/** Why a connection was ended to make room. */
export type TurnedAway =
  /** It had not greeted yet, and another one came. */
  | 'slow-greeting'
  /** It had no call, and another one came. */
  | 'idle'
  /** Its client has the most, and another one came. */
  | 'most-held'
  /** Its client has as many as one may have. */
  | 'client-limit'
  /** No place is left. */
  | 'full';

/** Options of {@link Places}. */
export interface PlacesOptions {
  /** Shares of connections that have not greeted. */
  readonly handshakes: Shares;
  /** Shares of connections that have greeted. */
  readonly connections: Shares;
  /** Learns of each connection that is ended here. A hostile client can cause many of these. */
  readonly turnedAway: (client: ClientIdentity, why: TurnedAway) => void;
}

/** The place of one connection. It is given back when the connection closes, whatever is called afterwards. */
export interface Place {
  /** The connection has greeted. False when there is no place for it: it has been ended. */
  settle(): boolean;
  /** A call began: while it goes on, idle connections make room before this one. */
  begin(): void;
  /** A call ended. */
  end(): void;
}

/** The open connections of one pipe. */
export class Places {
  readonly #options: PlacesOptions;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Connections that are open. */
  get size(): number {
    return this.#options.handshakes.held + this.#options.connections.held;
  }

  /** Takes in a connection that was just accepted. */
  enter(connection: Duplex, client: ClientIdentity): Place {
    const { handshakes, connections, turnedAway } = this.#options;
    let calls = 0;
    const away = (why: TurnedAway): void => {
      claim = undefined;
      connection.destroy();
      turnedAway(client, why);
    };
    let claim: Claim | undefined = handshakes.take(client, {
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

import type { Duplex } from 'node:stream';
import type { ClientIdentity } from './client-identity.js';
import { judgeGreeting, judgePlace, type Holding, type Room } from './judge-entry.js';

/** Why a connection was ended to make room. */
export type TurnedAway =
  /** It had not greeted yet, and another one came. */
  | 'slow-greeting'
  /** It had no call, and another one came. */
  | 'idle'
  /** Its client has as many as one may have. */
  | 'client-limit'
  /** No place is left. */
  | 'full';

/** What {@link Places} is made with. */
export interface PlacesOptions extends Room {
  /** Learns of each connection that is ended here. A hostile client can cause many of these. */
  readonly turnedAway: (client: ClientIdentity, why: TurnedAway) => void;
}

/** The place of one connection. It is given back when the connection closes, whatever is called afterwards. */
export interface Place {
  /** The connection has greeted. False when there is no place for it: it has been ended. */
  settle(): boolean;
  /** A call began: while it goes on, the connection does not make room for others. */
  begin(): void;
  /** A call ended. */
  end(): void;
}

interface Guest {
  readonly connection: Duplex;
  readonly client: ClientIdentity;
  calls: number;
}

/** What one client has, each in the order of coming. */
interface Party {
  readonly greeting: Set<Guest>;
  readonly settled: Set<Guest>;
}

/** The open connections of one pipe, by client. Who makes room for whom is decided in `judge-entry`. */
export class Places {
  readonly #parties = new Map<string, Party>();

  readonly #options: PlacesOptions;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Connections that are open. */
  get size(): number {
    let size = 0;
    for (const { greeting, settled } of this.#parties.values())
      size += greeting.size + settled.size;
    return size;
  }

  /** Takes in a connection that was just accepted. */
  enter(connection: Duplex, client: ClientIdentity): Place {
    const greeting = new Map([...this.#parties].map(([key, party]) => [key, party.greeting.size]));
    const verdict = judgeGreeting(greeting, this.#options, client.key);
    if (verdict.kind === 'evict')
      this.#end(this.#parties.get(verdict.key)?.greeting, 'slow-greeting');
    const guest: Guest = { connection, client, calls: 0 };
    const party = this.#parties.get(client.key) ?? { greeting: new Set(), settled: new Set() };
    this.#parties.set(client.key, party);
    party.greeting.add(guest);
    connection.once('close', () => this.#leave(guest));
    return {
      settle: () => this.#settle(guest),
      begin: () => void (guest.calls += 1),
      end: () => void (guest.calls -= 1),
    };
  }

  #settle(guest: Guest): boolean {
    const { client, connection } = guest;
    const party = this.#parties.get(client.key);
    if (party?.greeting.delete(guest) !== true) return false;
    const verdict = judgePlace(this.#holdings(), this.#options, client);
    if (verdict.kind === 'refuse') {
      this.#forgetIfGone(client.key, party);
      connection.destroy();
      this.#options.turnedAway(client, verdict.rule);
      return false;
    }
    if (verdict.kind === 'evict') {
      const idle = [...(this.#parties.get(verdict.key)?.settled ?? [])].filter(isIdle);
      this.#end(idle, 'idle');
    }
    party.settled.add(guest);
    // It may have been forgotten with the one that made room.
    this.#parties.set(client.key, party);
    return true;
  }

  /** Ends the first of them. */
  #end(guests: Iterable<Guest> | undefined, why: TurnedAway): void {
    for (const guest of guests ?? []) {
      // Its place is free now, not when the system has closed it.
      this.#leave(guest);
      guest.connection.destroy();
      this.#options.turnedAway(guest.client, why);
      return;
    }
  }

  #leave(guest: Guest): void {
    const party = this.#parties.get(guest.client.key);
    if (party === undefined) return;
    party.greeting.delete(guest);
    party.settled.delete(guest);
    this.#forgetIfGone(guest.client.key, party);
  }

  #forgetIfGone(key: string, { greeting, settled }: Party): void {
    if (greeting.size === 0 && settled.size === 0) this.#parties.delete(key);
  }

  #holdings(): Map<string, Holding> {
    return new Map(
      [...this.#parties].map(([key, { settled }]) => {
        const idle = [...settled].filter(isIdle).length;
        return [key, { places: settled.size, idle }];
      }),
    );
  }
}

function isIdle({ calls }: Guest): boolean {
  return calls === 0;
}

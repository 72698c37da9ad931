import type { Readable } from 'node:stream';
import type { ClientIdentity } from './client-identity.js';
import { ProcessorAccount } from './processor-account.js';

const SETTLED = Promise.resolve();
/** Another client counts as served when it sent something within this time before a turn. */
const OTHERS_MS = 1000;

/** What one read of a client's connection caused, until nothing of it was left to do at once. */
export interface Turn {
  /** The pipe, or the method of the last call that it began. */
  readonly what: string;
  readonly client: ClientIdentity;
  readonly ms: number;
}

/** What {@link ClientTurns} reports to, and its clock. */
export interface ClientTurnsOptions {
  /** Called after each turn. */
  readonly ended?: (turn: Turn) => void;
  /** Called each time reading from a client is paused. A hostile client can cause many of these. */
  readonly paused?: (client: ClientIdentity) => void;
  /** Milliseconds of a clock that only goes forward. Default: that of the process. */
  readonly now?: () => number;
  /** Calls back after so many milliseconds, unless it is disposed. Default: a timer that keeps nothing alive. */
  readonly after?: (ms: number, then: () => void) => Disposable;
}

/** A connection, and how it is read. */
export interface TurnConnection {
  readonly client: ClientIdentity;
  /** The pipe that it came by. */
  readonly what: string;
  /** Whether reading may go on after a pause. Default: it may. */
  readonly mayResume?: () => boolean;
}

/** What one client has open and has left. */
interface Party {
  readonly account: ProcessorAccount;
  /** The connection that was read last is the last one, so that all get their turn after a pause. */
  readonly connections: Map<Readable, TurnConnection>;
  pause?: Disposable | undefined;
  forgetting?: Disposable | undefined;
}

interface OpenTurn {
  what: string;
  readonly client: ClientIdentity;
  readonly party: Party | undefined;
  readonly socket: Readable;
  readonly beganAt: number;
}

/**
 * Measures what the daemon does for each client and shares its processor: while others are served, a client that has used more
 * than its share is not read until its account is positive again. It keeps its connections, and other clients do not wait.
 *
 * A turn begins when octets of a connection come out of its socket, and ends after the callbacks and promises that these settle:
 * frames, headers, messages and the beginning of handlers. Time that work waits for the system is not counted.
 */
export class ClientTurns implements Disposable {
  readonly #parties = new Map<string, Party>();
  readonly #options: ClientTurnsOptions;
  readonly #now: () => number;
  readonly #after: NonNullable<ClientTurnsOptions['after']>;
  #open: OpenTurn | undefined;
  #endsSoon = false;
  // The promises that are settled by now run before the next tick.
  readonly #afterPromises = (): void => {
    this.#endsSoon = false;
    process.nextTick(this.#endIfOpen, this.#open);
  };
  // Another turn may have begun before the tick; it has a tick of its own.
  readonly #endIfOpen = (turn: OpenTurn | undefined): void => {
    if (this.#open === turn) this.#end();
  };
  /** Who was served last, and when the last one before that was another client. */
  #last: { key: string; at: number } | undefined;
  #otherAt = -Infinity;

  constructor(options: ClientTurnsOptions = {}) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#after = options.after ?? afterTimer;
  }

  /** Measures an open connection until it closes. Call it after who reads the connection listens for its data. */
  watch(socket: Readable, connection: TurnConnection): void {
    const party = this.#join(socket, connection);
    const { client, what } = connection;
    socket.prependListener('data', () => {
      this.#end();
      this.#open = { what, client, party, socket, beganAt: this.#now() };
      if (this.#endsSoon) return;
      this.#endsSoon = true;
      // For each read, so without the object for asynchronous hooks that a microtask of Node has.
      void SETTLED.then(this.#afterPromises);
    });
    if (party?.pause !== undefined) socket.pause();
  }

  /** Says what the present turn is about. */
  name(what: string): void {
    if (this.#open !== undefined) this.#open.what = what;
  }

  /** Reads all that waits, and measures no more. */
  [Symbol.dispose](): void {
    this.#open = undefined;
    for (const party of this.#parties.values()) {
      party.forgetting?.[Symbol.dispose]();
      if (party.pause !== undefined) this.#resume(party);
    }
    this.#parties.clear();
  }

  /** Administrators, and clients that the system does not know, have no quota. */
  #join(socket: Readable, connection: TurnConnection): Party | undefined {
    const { key, isAdministrator, isEverybody } = connection.client;
    if (isAdministrator || isEverybody) return undefined;
    const known = this.#parties.get(key);
    const party: Party = known ?? {
      account: new ProcessorAccount(this.#now),
      connections: new Map(),
    };
    this.#parties.set(key, party);
    party.forgetting?.[Symbol.dispose]();
    party.connections.set(socket, connection);
    socket.once('close', () => this.#leave(socket, key, party));
    return party;
  }

  #leave(socket: Readable, key: string, party: Party): void {
    party.connections.delete(socket);
    if (party.connections.size > 0 || this.#parties.get(key) !== party) return;
    // A client that comes back before that has its old account.
    party.forgetting = this.#after(party.account.restMs, () => {
      party.pause?.[Symbol.dispose]();
      this.#parties.delete(key);
    });
  }

  #end(): void {
    const turn = this.#open;
    if (turn === undefined) return;
    this.#open = undefined;
    const { what, client, party, socket } = turn;
    const now = this.#now();
    const ms = now - turn.beganAt;
    this.#options.ended?.({ what, client, ms });
    if (this.#last !== undefined && this.#last.key !== client.key) this.#otherAt = this.#last.at;
    this.#last = { key: client.key, at: now };
    if (party === undefined) return;
    party.account.charge(ms);
    const connection = party.connections.get(socket);
    if (connection !== undefined) {
      party.connections.delete(socket);
      party.connections.set(socket, connection);
    }
    const waitMs = party.account.waitMs;
    if (waitMs > 0 && turn.beganAt - this.#otherAt < OTHERS_MS) this.#pause(party, client, waitMs);
  }

  #pause(party: Party, client: ClientIdentity, waitMs: number): void {
    // Also those whose reader has let them go on meanwhile.
    for (const socket of party.connections.keys()) socket.pause();
    if (party.pause !== undefined) return;
    party.pause = this.#after(waitMs, () => this.#resume(party));
    this.#options.paused?.(client);
  }

  #resume(party: Party): void {
    party.pause?.[Symbol.dispose]();
    party.pause = undefined;
    for (const [socket, { mayResume }] of party.connections) {
      if (mayResume?.() !== false) socket.resume();
    }
  }
}

function afterTimer(ms: number, then: () => void): Disposable {
  const timer = setTimeout(then, ms).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

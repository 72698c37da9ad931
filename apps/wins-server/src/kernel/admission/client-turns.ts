// Longer than most files because it is one thing: a queue, its turns and what they cost, which all change the same record of a client.
import { TokenBucket, type Rate } from '@wins/time';
import type { Readable } from 'node:stream';
import type { ClientIdentity } from '@wins/base';
import { PROCESSOR, type ProcessorRow } from './resources.js';
import { weightOf } from './shares.js';

const SETTLED = Promise.resolve();
/** Another client counts as served when it sent something within this time before a turn. */
const OTHERS_MS = 1000;
/** Octets by which a quantum is divided for the cost of an octet before anything of a client was read: its first read has 4 KiB. */
const FIRST_READ_OCTETS = 4096;
/** Connections of a client whose input may wait in this process; that of others waits in the system. */
const MOST_WAITING = 8;
/** A client owes so many of its quanta at most: a turn may be long because the system let others run. */
const MOST_OWED_QUANTA = 10;
/** How long a client that made too much of something waits at most, before its rates are looked at again. */
const RETRY_MS = 50;
/** A read has so many at least: a frame and its header. */
const LEAST_READ_OCTETS = 256;

/** One read of a client's connection, until nothing of what it caused was left to do at once. */
export interface Turn {
  /** The pipe, or the method of the last call that it began. */
  readonly what: string;
  readonly client: ClientIdentity;
  readonly ms: number;
}

/** Reports and clock of {@link ClientTurns}. */
export interface ClientTurnsOptions {
  /** Called after each turn. */
  readonly ended?: (turn: Turn) => void;
  /** Called when a client used more than its share while others were served. A hostile client can cause many of these. */
  readonly paused?: (client: ClientIdentity) => void;
  /** Default: that of the table of resources. */
  readonly row?: ProcessorRow;
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
  /** Whether it may be read now; when that changes, the connection must be resumed. Default: always. */
  readonly mayRead?: () => boolean;
}

/** The connections of one client, and what it has used. */
interface Party {
  readonly client: ClientIdentity;
  readonly busy: TokenBucket;
  readonly requests: TokenBucket;
  readonly connects: TokenBucket;
  /** Accepted connections that wait to be set up, the oldest first. */
  readonly arrivals: Map<Readable, () => void>;
  readonly connections: Map<Readable, TurnConnection>;
  /** Those with input that waits, in the order of their turns. */
  readonly ready: Set<Readable>;
  /** Rest of the client's quantum, in milliseconds; below 0 when a turn took longer. */
  leftMs: number;
  /** Whether its input came when none of it waited: it comes before the others while something of its quantum is left. */
  isFresh: boolean;
  msPerOctet: number;
  /** Whether connections without input here are not read from the system. */
  isHeld: boolean;
  forgetting?: Disposable | undefined;
}

interface OpenTurn {
  what: string;
  requests: number;
  readonly party: Party;
  readonly octets: number;
  readonly beganAt: number;
}

/**
 * Shares the daemon's thread among clients by what they use: deficit round robin. A connection is read only in the turn of its
 * client; input of others waits in their sockets. A turn has as many octets as the client's last turns say that its quantum is good
 * for, and what it takes is charged. A client whose input waited for nothing comes first with what is left of its quantum. Administrators
 * have every second turn when they have input: that is their reserve.
 *
 * A turn begins with a read and ends after the callbacks and promises that this settles: frames, headers, messages and the
 * beginning of handlers. Time that work waits for the system is not counted. The owner of the connection listens for `data`
 * as always.
 */
export class ClientTurns implements Disposable {
  readonly #parties = new Map<string, Party>();
  /** Clients with input that waits, in the order of their turns. */
  readonly #administrators = new Set<Party>();
  readonly #others = new Set<Party>();
  readonly #row: ProcessorRow;
  readonly #options: ClientTurnsOptions;
  readonly #now: () => number;
  readonly #after: NonNullable<ClientTurnsOptions['after']>;
  readonly #listeners = new Map<Readable, () => void>();
  #open: OpenTurn | undefined;
  #isScheduled = false;
  /** Whether a connection was accepted in this round of the event loop, and how many since the last turn. */
  #hasAccepted = false;
  #accepts = 0;
  #wasAdministrator = false;
  #retry: Disposable | undefined;
  readonly #afterPromises = (): void => process.nextTick(this.#end);
  /** Client that was served last, and when; `#otherAt` is when a different client was served last before it. */
  #last: { key: string; at: number } | undefined;
  #otherAt = -Infinity;

  constructor(options: ClientTurnsOptions = {}) {
    this.#options = options;
    this.#row = options.row ?? PROCESSOR;
    this.#now = options.now ?? (() => performance.now());
    this.#after = options.after ?? afterTimer;
  }

  /**
   * Sets up an accepted connection in a turn of its client, which pays for that and for the time since it was accepted. A client that
   * connects more often than its rate waits; nothing is read from its connection meanwhile. One that cannot be set up is destroyed.
   */
  admit(socket: Readable, client: ClientIdentity, acceptedAt: number, setUp: () => void): void {
    const party = this.#join(client);
    hold(socket);
    party.arrivals.set(socket, setUp);
    socket.once('close', () => this.#leave(socket, party));
    this.#charge(party, this.#now() - acceptedAt);
    this.#hasAccepted = true;
    this.#accepts += 1;
    this.#enqueue(party);
  }

  /** Reads an open connection in turns until it closes. Call it after its processor listens for data. */
  watch(socket: Readable, connection: TurnConnection): void {
    const party = this.#join(connection.client);
    party.connections.set(socket, connection);
    const arrived = (): void => {
      // A stream may tell of itself once more after it has closed.
      if (!party.connections.has(socket)) return;
      if (this.#isFree(party)) {
        this.#read(party, socket);
        return;
      }
      party.ready.add(socket);
      if (party.ready.size > MOST_WAITING && !party.isHeld) {
        party.isHeld = true;
        for (const each of party.connections.keys()) if (!party.ready.has(each)) hold(each);
      }
      this.#enqueue(party);
    };
    this.#listeners.set(socket, arrived);
    socket.on('readable', arrived);
    socket.on('resume', arrived);
    if (party.isHeld) hold(socket);
    socket.once('close', () => this.#leave(socket, party));
  }

  /** Names the present turn after a request, which it counts. */
  name(what: string): void {
    if (this.#open === undefined) return;
    this.#open.what = what;
    this.#open.requests += 1;
  }

  /** Lets all connections flow, and measures no more. */
  [Symbol.dispose](): void {
    for (const [socket, arrived] of this.#listeners) {
      socket.off('readable', arrived);
      socket.off('resume', arrived);
    }
    for (const party of this.#parties.values()) {
      letGo(party);
      for (const socket of party.arrivals.keys()) socket.destroy();
      party.forgetting?.[Symbol.dispose]();
    }
    this.#retry?.[Symbol.dispose]();
    for (const each of [this.#listeners, this.#parties, this.#administrators, this.#others])
      each.clear();
  }

  #join(client: ClientIdentity): Party {
    const weight = weightOf(client);
    const bucket = ({ burst, perSecond }: Rate): TokenBucket =>
      new TokenBucket({ burst: burst * weight, perSecond: perSecond * weight }, this.#now);
    const { busy, requests, connects, quantumMs } = this.#row;
    const party: Party = this.#parties.get(client.key) ?? {
      client,
      ...{ busy: bucket(busy), requests: bucket(requests), connects: bucket(connects) },
      arrivals: new Map(),
      connections: new Map(),
      ready: new Set(),
      ...{ leftMs: quantumMs, isFresh: false },
      isHeld: false,
      msPerOctet: quantumMs / FIRST_READ_OCTETS,
    };
    this.#parties.set(client.key, party);
    party.forgetting?.[Symbol.dispose]();
    return party;
  }

  #leave(socket: Readable, party: Party): void {
    const { connections, arrivals, ready, client } = party;
    this.#listeners.delete(socket);
    connections.delete(socket);
    arrivals.delete(socket);
    ready.delete(socket);
    if (connections.size + arrivals.size > 0 || this.#parties.get(client.key) !== party) return;
    // A client that comes back before that has its old accounts: connections are free to make.
    const weight = weightOf(client);
    const rests = (['busy', 'requests', 'connects'] as const).map((name) =>
      party[name].msUntil(this.#row[name].burst * weight),
    );
    party.forgetting?.[Symbol.dispose]();
    party.forgetting = this.#after(Math.max(...rests), () => this.#parties.delete(client.key));
  }

  #queueOf({ client }: Party): Set<Party> {
    return client.isAdministrator ? this.#administrators : this.#others;
  }

  /** Whether a client may go on at once, as nobody waits: in its quantum, and for some more while no others are served. */
  #isFree(party: Party): boolean {
    if (this.#open !== undefined || this.#administrators.size + this.#others.size > 0) return false;
    const isShared = this.#isShared(party.client.key, this.#now());
    const leastMs = isShared ? 0 : -MOST_OWED_QUANTA * this.#row.quantumMs;
    return party.leftMs > leastMs && !this.#mustWait(party);
  }

  #enqueue(party: Party): void {
    const queue = this.#queueOf(party);
    if (!queue.has(party)) party.isFresh = true;
    queue.add(party);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#open !== undefined) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      // Node accepts one connection in each round of the event loop: others must not wait for a turn each.
      const isAccepting = this.#hasAccepted && this.#accepts < this.#row.acceptsPerTurn;
      this.#hasAccepted = false;
      if (isAccepting) {
        this.#schedule();
        return;
      }
      this.#accepts = 0;
      this.#turn();
    });
  }

  /** The next client to be served; undefined when there is none, or all have to wait. */
  #next(): Party | undefined {
    const isTheirs = this.#administrators.size > 0 && !this.#wasAdministrator;
    const [first, second] = isTheirs
      ? [this.#administrators, this.#others]
      : [this.#others, this.#administrators];
    const party = this.#nextOf(first) ?? this.#nextOf(second);
    this.#wasAdministrator = party?.client.isAdministrator === true;
    return party;
  }

  #nextOf(queue: Set<Party>): Party | undefined {
    const waiting = [...queue].filter((party) => !this.#mustWait(party));
    if (waiting.length < 2) {
      // It owes nobody anything.
      for (const party of waiting) party.leftMs = this.#row.quantumMs;
      return waiting[0];
    }
    // As fq_codel's new flows (RFC 8290, section 4.2): who asks for little does not wait for those who ask all the time, and gets no more than
    // a quantum of its own by that.
    const fresh = waiting.find((party) => party.isFresh && party.leftMs > 0);
    if (fresh !== undefined) return fresh;
    for (;;) {
      for (const party of waiting) {
        if (party.leftMs > 0) return party;
        party.leftMs += this.#row.quantumMs;
        party.isFresh = false;
        // Behind all others.
        queue.delete(party);
        queue.add(party);
      }
    }
  }

  /** Whether a client has made more than its rates of all that it wants. */
  #mustWait(party: Party): boolean {
    if (this.#mayConnect(party)) return false;
    // What is not read yet may be on its way.
    if (this.#mayRead(party) && (party.ready.size > 0 || party.arrivals.size === 0)) return false;
    this.#options.paused?.(party.client);
    this.#retry ??= this.#after(RETRY_MS, () => {
      this.#retry = undefined;
      this.#schedule();
    });
    return true;
  }

  #mayConnect({ client, arrivals, connects }: Party): boolean {
    return arrivals.size > 0 && (!isLimited(client) || !connects.isEmpty);
  }

  /** A rate of requests binds while others are served. */
  #mayRead({ client, requests }: Party): boolean {
    if (!isLimited(client) || !requests.isEmpty) return true;
    return !this.#isShared(client.key, this.#now());
  }

  #turn(): void {
    for (let party = this.#next(); party !== undefined; party = this.#next()) {
      if (this.#setUp(party)) return;
      if (this.#mayRead(party)) {
        for (const socket of party.ready) {
          party.ready.delete(socket);
          if (this.#read(party, socket)) return;
        }
      }
      this.#rest(party);
    }
  }

  /** Begins a turn with a read; false when the connection has nothing to read, which costs its client no turn. */
  #read(party: Party, socket: Readable): boolean {
    const connection = party.connections.get(socket);
    if (connection === undefined || socket.destroyed) return false;
    const waiting = socket.readableLength;
    if (waiting === 0) {
      // Finds the end, where it is one.
      socket.read();
      return false;
    }
    if (connection.mayRead?.() === false) return false;
    const octets = Math.min(waiting, this.#octetsFor(party));
    const { what } = connection;
    this.#begin(party, what, octets);
    // The listeners for its data are called by this.
    socket.read(octets < waiting ? octets : undefined);
    if (socket.readableLength > 0) party.ready.add(socket);
    else if (party.isHeld) hold(socket);
    return true;
  }

  #begin(party: Party, what: string, octets: number): void {
    this.#open = { what, requests: 0, party, octets, beganAt: this.#now() };
    // For each turn, so without the object for asynchronous hooks that a microtask of Node has.
    void SETTLED.then(this.#afterPromises);
  }

  /** Begins a turn in which connections are set up, as many as the quantum is good for; false when none may be. */
  #setUp(party: Party): boolean {
    if (!this.#mayConnect(party)) return false;
    this.#begin(party, 'connection', LEAST_READ_OCTETS);
    const endsAt = this.#now() + this.#row.quantumMs;
    do {
      const [[socket, setUp] = []] = party.arrivals;
      if (socket === undefined || setUp === undefined) break;
      party.arrivals.delete(socket);
      if (socket.destroyed) continue;
      party.connects.take();
      release(socket);
      try {
        setUp();
      } catch (error) {
        socket.destroy(error as Error);
      }
    } while (this.#now() < endsAt && this.#mayConnect(party));
    return true;
  }

  #octetsFor({ msPerOctet }: Party): number {
    const { quantumMs, readOctets } = this.#row;
    const isShared = this.#administrators.size + this.#others.size > 1;
    const most = isShared ? readOctets.shared : readOctets.alone;
    return Math.max(LEAST_READ_OCTETS, Math.min(most, Math.floor(quantumMs / msPerOctet)));
  }

  /** A client has no more input, or goes behind all others. */
  #rest(party: Party): void {
    const queue = this.#queueOf(party);
    if (party.isHeld && party.ready.size < MOST_WAITING / 2) letGo(party);
    if (party.ready.size + party.arrivals.size === 0) queue.delete(party);
    else queue.add(party);
    if (this.#administrators.size + this.#others.size > 0) this.#schedule();
  }

  readonly #end = (): void => {
    const turn = this.#open;
    if (turn === undefined) return;
    this.#open = undefined;
    const { what, party, octets, requests } = turn;
    const { client } = party;
    const now = this.#now();
    const ms = now - turn.beganAt;
    this.#options.ended?.({ what, client, ms });
    if (this.#last !== undefined && this.#last.key !== client.key) this.#otherAt = this.#last.at;
    this.#last = { key: client.key, at: now };
    this.#charge(party, ms);
    // What was dear once is taken to be dear again, for a while.
    const seen = ms / Math.max(octets, LEAST_READ_OCTETS);
    party.msPerOctet = Math.max(seen, (party.msPerOctet + seen) / 2);
    if (requests > 0) party.requests.charge(requests, this.#row.requests.burst);
    if (isLimited(client) && party.busy.isEmpty && this.#isShared(client.key, turn.beganAt))
      this.#options.paused?.(client);
    this.#rest(party);
  };

  #charge(party: Party, ms: number): void {
    const { quantumMs, busy } = this.#row;
    party.leftMs = Math.max(party.leftMs - ms, -MOST_OWED_QUANTA * quantumMs);
    party.busy.charge(ms, busy.burst);
  }

  /** Whether another client was served a short time ago. */
  #isShared(key: string, now: number): boolean {
    if (this.#last === undefined) return false;
    const otherAt = this.#last.key === key ? this.#otherAt : this.#last.at;
    return now - otherAt < OTHERS_MS;
  }
}

/** Node has no name for it: a stream that is paused still reads, into its buffer. */
interface Handle {
  reading: boolean;
  readStart(): number;
  readStop(): number;
}

function handleOf(socket: Readable): Handle | null | undefined {
  return (socket as unknown as { readonly _handle?: Handle | null })._handle;
}

/** Leaves the input of a connection in the system. */
function hold(socket: Readable): void {
  const handle = handleOf(socket);
  if (handle?.reading !== true) return;
  handle.reading = false;
  handle.readStop();
}

function letGo(party: Party): void {
  party.isHeld = false;
  for (const socket of party.connections.keys()) release(socket);
}

function release(socket: Readable): void {
  const handle = handleOf(socket);
  // What has input here is read on by its stream.
  if (handle?.reading !== false || socket.readableLength > 0) return;
  handle.reading = true;
  handle.readStart();
}

function isLimited({ isAdministrator, isEverybody }: ClientIdentity): boolean {
  return !isAdministrator && !isEverybody;
}

function afterTimer(ms: number, then: () => void): Disposable {
  const timer = setTimeout(then, ms).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

// This file is longer than most, because the queue, the turns and the costs all change the same object: the client's `Party`.
import { TokenBucket, type Rate } from '@wins/time';
import type { Readable } from 'node:stream';
import type { ClientIdentity } from '@wins/base';
import { PROCESSOR, type ProcessorRow } from './resources.js';
import { weightOf } from './shares.js';

const SETTLED = Promise.resolve();
/** Time, in milliseconds, for which the thread counts as shared after another client's turn. */
const OTHERS_MS = 1000;
/** Size of a client's first read, which is assumed to cost one quantum. */
const FIRST_READ_OCTETS = 4096;
/** Default of `TurnConnection.mostWaiting`. */
const MOST_WAITING = 8;
/** Maximum debt of a client, in quanta. The debt from a long turn is limited, because other processes may have slowed that turn down. */
const MOST_OWED_QUANTA = 10;
/** Time until a client above its rates is checked again. */
const RETRY_MS = 50;
/** Minimum read; fits a small frame with its header. */
const LEAST_READ_OCTETS = 256;

/**
 * Maximum octets of a client's tasks that wait for their turn, and of all tasks. A task costs at least `TASK_OCTETS`. Beyond the total, a
 * client may still have `OWN_TASK_OCTETS`, so that clients with many tasks do not keep out one with few.
 */
const MOST_TASK_OCTETS = 256 * 1024;
const MOST_TASK_OCTETS_OF_ALL = 4 * 1024 * 1024;
const OWN_TASK_OCTETS = 4 * 1024;
const TASK_OCTETS = 512;

/** A client's turn: one read of a connection, tasks, or the set-up of new connections. It includes the callbacks and promises that result directly. */
export interface Turn {
  /** The method of the last call that began in this turn, else the pipe. */
  readonly what: string;
  readonly client: ClientIdentity;
  readonly ms: number;
}

export interface ClientSchedulerOptions {
  readonly ended?: (turn: Turn) => void;
  /** Called when a client exceeds its share while others are served; a hostile client can cause many calls. */
  readonly paused?: (client: ClientIdentity) => void;
  /** Length of a turn, sizes of reads, and rates of each client. Default: `PROCESSOR`. */
  readonly row?: ProcessorRow;
  /** Returns milliseconds of a monotonic clock. Default: the process clock. */
  readonly now?: () => number;
  /** Calls `then` after a delay, unless disposed. Default: a timer that does not keep the process alive. */
  readonly after?: (ms: number, then: () => void) => Disposable;
}

export interface TurnConnection {
  readonly client: ClientIdentity;
  readonly what: string;
  /** False postpones reads; resume the socket when it becomes true. Default: always true. */
  readonly mayRead?: () => boolean;
  /** Maximum number of connections of this client whose input is buffered here. The operating system keeps the other input. Default 8. */
  readonly mostWaiting?: number;
}

/** Work of a client that no connection causes, such as forwarding datagrams. */
export interface ClientTasks {
  /**
   * Runs `task` in a turn of the client, or at once while nobody waits. It must not throw.
   *
   * @param octets - Size of the data that the task holds.
   * @returns False if too much work waits. The task is then dropped.
   */
  run(octets: number, task: () => void): boolean;
  /** Tasks that wait still run. Idempotent. */
  close(): void;
}

interface Task {
  readonly what: string;
  readonly octets: number;
  readonly run: () => void;
}

interface Party {
  readonly client: ClientIdentity;
  readonly busy: TokenBucket;
  readonly requests: TokenBucket;
  readonly connects: TokenBucket;
  /** Accepted connections before their set-up, oldest first. */
  readonly arrivals: Map<Readable, () => void>;
  readonly connections: Map<Readable, TurnConnection>;
  /** Connections with waiting input, in the order of their turns. */
  readonly ready: Set<Readable>;
  /** Those of `ready` that had no input before. They get every second turn, so that bulk connections do not hold up the others of the client. */
  readonly fresh: Set<Readable>;
  wasFresh: boolean;
  mostWaiting: number;
  /** Open `ClientTasks`. */
  taskers: number;
  readonly tasks: Task[];
  taskOctets: number;
  /** True if the last turn ran tasks. Tasks and reads of one client alternate. */
  ranTasks: boolean;
  /** Remainder of the client's quantum, in milliseconds; negative when a turn took longer. */
  leftMs: number;
  /** True if input arrived while the client was not queued. The client then goes first while it has quantum left. */
  isFresh: boolean;
  /** Estimated cost, used while other clients are served. A higher measured cost replaces it; a lower one moves it only halfway. */
  msPerOctet: number;
  /** Measured cost of the last turn. `cheaperMsPerOctet` is the lower cost of the last two turns. */
  lastMsPerOctet: number;
  cheaperMsPerOctet: number;
  /** True: too many connections of the client have buffered input. Its other connections are not read; their input waits in the operating system. */
  isHeld: boolean;
  forgetting?: Disposable | undefined;
}

interface OpenTurn {
  what: string;
  requests: number;
  readonly party: Party;
  /** Size of a read. Undefined for tasks, which say nothing about the cost of a read. */
  readonly octets: number | undefined;
  readonly beganAt: number;
}

/**
 * Divides the thread's time among clients (deficit round robin). A connection is read only in its client's turn; until then, its input stays in the
 * socket. Each read is sized to fit the quantum, and its actual time is charged. A client that has just joined the queue goes first while it has
 * quantum left. Administrators with input get every second turn.
 *
 * A turn starts with a read or a task. It ends when its callbacks and promises have run. The owner of the connection listens for `data` as usual.
 */
export class ClientScheduler implements Disposable {
  readonly #parties = new Map<string, Party>();
  /** Clients with waiting input, in the order of their turns. */
  readonly #administrators = new Set<Party>();
  readonly #others = new Set<Party>();
  readonly #row: ProcessorRow;
  readonly #options: ClientSchedulerOptions;
  readonly #now: () => number;
  readonly #after: NonNullable<ClientSchedulerOptions['after']>;
  readonly #listeners = new Map<Readable, () => void>();
  #open: OpenTurn | undefined;
  #isDisposed = false;
  #taskOctets = 0;
  #isScheduled = false;
  /** Until this time, a lone client continues in the same round of the event loop. */
  #roundEndsAt = -Infinity;
  /** True if this round of the event loop accepted a connection. `#accepts` counts the connections accepted since the last scheduled turn. */
  #hasAccepted = false;
  #accepts = 0;
  #wasAdministrator = false;
  #retry: Disposable | undefined;
  readonly #afterPromises = (): void => process.nextTick(this.#end);
  /** Key of the client that had the latest turn, and when that turn ended. `#otherAt` is when a turn of any other client last ended. */
  #last: { key: string; at: number } | undefined;
  #otherAt = -Infinity;

  constructor(options: ClientSchedulerOptions = {}) {
    this.#options = options;
    this.#row = options.row ?? PROCESSOR;
    this.#now = options.now ?? (() => performance.now());
    this.#after = options.after ?? afterTimer;
  }

  /**
   * Queues a new connection. `setUp` runs in a later turn of the client. The time since `acceptedAt` is charged to the client. While the client
   * exceeds its rate, the connection waits unread. The connection is destroyed if `setUp` fails.
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

  /** Reads a connection in turns until it closes. Its consumer must already listen for data. */
  watch(socket: Readable, connection: TurnConnection): void {
    const party = this.#join(connection.client);
    party.connections.set(socket, connection);
    party.mostWaiting = connection.mostWaiting ?? MOST_WAITING;
    const arrived = (): void => {
      // A closed stream may still emit an event.
      if (!party.connections.has(socket)) return;
      if (this.#isFree(party)) {
        this.#read(party, socket);
        return;
      }
      if (!party.ready.has(socket)) party.fresh.add(socket);
      party.ready.add(socket);
      if (party.ready.size > party.mostWaiting && !party.isHeld) {
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

  /** Opens the tasks of a client. The caller closes them. */
  tasksOf(client: ClientIdentity, what: string): ClientTasks {
    const party = this.#join(client);
    party.taskers += 1;
    let isOpen = true;
    return {
      run: (octets, run) => this.#accept(party, { what, octets: octets + TASK_OCTETS, run }),
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        party.taskers -= 1;
        this.#forget(party);
      },
    };
  }

  /** Gives the current turn the name of a request, and counts the request. */
  nameTurn(what: string): void {
    if (this.#open === undefined) return;
    this.#open.what = what;
    this.#open.requests += 1;
  }

  /** Resumes watched connections. Destroys connections that are not yet set up. Drops waiting tasks, and runs later ones at once. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
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
      busy: bucket(busy),
      requests: bucket(requests),
      connects: bucket(connects),
      arrivals: new Map(),
      connections: new Map(),
      ready: new Set(),
      fresh: new Set(),
      wasFresh: false,
      mostWaiting: MOST_WAITING,
      taskers: 0,
      tasks: [],
      taskOctets: 0,
      ranTasks: false,
      leftMs: quantumMs,
      isFresh: false,
      isHeld: false,
      msPerOctet: quantumMs / FIRST_READ_OCTETS,
      lastMsPerOctet: Infinity,
      cheaperMsPerOctet: quantumMs / FIRST_READ_OCTETS,
    };
    this.#parties.set(client.key, party);
    party.forgetting?.[Symbol.dispose]();
    return party;
  }

  #leave(socket: Readable, party: Party): void {
    const { connections, arrivals, ready, fresh } = party;
    this.#listeners.delete(socket);
    connections.delete(socket);
    arrivals.delete(socket);
    ready.delete(socket);
    fresh.delete(socket);
    this.#forget(party);
  }

  #forget(party: Party): void {
    const { connections, arrivals, taskers, client } = party;
    const isUsed = connections.size + arrivals.size + taskers > 0;
    if (isUsed || this.#parties.get(client.key) !== party) return;
    // Forgets the client only once its rates have recovered; otherwise a client could reset them by reconnecting.
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

  /** True if no client waits and this one has quantum left. If no other client had a turn recently, it may owe up to `MOST_OWED_QUANTA`. */
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
      // Node accepts one connection per round of the event loop. A turn in every round would delay each accept. The next turn therefore waits until a
      // round accepts no connection, or until `acceptsPerTurn` connections are accepted.
      const isAccepting = this.#hasAccepted && this.#accepts < this.#row.acceptsPerTurn;
      this.#hasAccepted = false;
      if (isAccepting) {
        this.#schedule();
        return;
      }
      this.#accepts = 0;
      this.#roundEndsAt = this.#now() + this.#row.quantumMs;
      this.#turn();
    });
  }

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
      // A lone client owes nothing, because nobody waited for it.
      for (const party of waiting) party.leftMs = this.#row.quantumMs;
      return waiting[0];
    }
    // Like new flows of fq_codel (RFC 8290, section 4.2): a client with few requests overtakes constant load, and gains at most one quantum.
    const fresh = waiting.find((party) => party.isFresh && party.leftMs > 0);
    if (fresh !== undefined) return fresh;
    for (;;) {
      for (const party of waiting) {
        if (party.leftMs > 0) return party;
        party.leftMs += this.#row.quantumMs;
        party.isFresh = false;
        queue.delete(party);
        queue.add(party);
      }
    }
  }

  /** True when the client is above its rate for everything that it wants to do. */
  #mustWait(party: Party): boolean {
    if (this.#mayConnect(party)) return false;
    // If `#mayRead` permits reads, the client waits in one case: it has nothing to read, and its new connections are above their rate.
    const isWaiting = party.ready.size + party.tasks.length > 0;
    if (this.#mayRead(party) && (isWaiting || party.arrivals.size === 0)) return false;
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

  /** Applies the rate of requests only while other clients are served. */
  #mayRead({ client, requests }: Party): boolean {
    if (!isLimited(client) || !requests.isEmpty) return true;
    return !this.#isShared(client.key, this.#now());
  }

  #turn(): void {
    for (let party = this.#next(); party !== undefined; party = this.#next()) {
      if (this.#setUp(party)) return;
      if (this.#mayRead(party)) {
        if (this.#runTasks(party)) return;
        if (this.#readNext(party)) return;
      }
      this.#rest(party);
    }
  }

  /** Begins a turn; returns false if no connection has anything to read. */
  #readNext(party: Party): boolean {
    const { fresh, ready } = party;
    party.wasFresh = !party.wasFresh && fresh.size > 0;
    for (const queue of party.wasFresh ? [fresh, ready] : [ready])
      for (const socket of queue) {
        fresh.delete(socket);
        ready.delete(socket);
        if (this.#read(party, socket)) return true;
      }
    return false;
  }

  /** Begins a turn; returns false if there is nothing to read. */
  #read(party: Party, socket: Readable): boolean {
    const connection = party.connections.get(socket);
    if (connection === undefined || socket.destroyed) return false;
    const waiting = socket.readableLength;
    if (waiting === 0) {
      // Detects the end of the stream.
      socket.read();
      return false;
    }
    if (connection.mayRead?.() === false) return false;
    const now = this.#now();
    const octets = Math.min(waiting, this.#octetsFor(party, now));
    const { what } = connection;
    this.#begin(party, what, octets, now);
    // Emits `data`.
    socket.read(octets < waiting ? octets : undefined);
    if (socket.readableLength > 0) party.ready.add(socket);
    else if (party.isHeld) hold(socket);
    return true;
  }

  #accept(party: Party, task: Task): boolean {
    if (this.#isDisposed) {
      task.run();
      return true;
    }
    if (this.#isFree(party)) {
      this.#begin(party, task.what, undefined, this.#now());
      task.run();
      return true;
    }
    const { octets } = task;
    const ownOctets = party.taskOctets + octets;
    const isFull = this.#taskOctets + octets > MOST_TASK_OCTETS_OF_ALL;
    if (ownOctets > (isFull ? OWN_TASK_OCTETS : MOST_TASK_OCTETS)) return false;
    party.tasks.push(task);
    party.taskOctets += octets;
    this.#taskOctets += octets;
    this.#enqueue(party);
    return true;
  }

  /** Begins a turn that runs as many tasks as fit the quantum; returns false if it is the turn of a read, or if there are no tasks. */
  #runTasks(party: Party): boolean {
    const { tasks } = party;
    const [first] = tasks;
    if (first === undefined) return false;
    party.ranTasks = !party.ranTasks || party.ready.size === 0;
    if (!party.ranTasks) return false;
    const now = this.#now();
    this.#begin(party, first.what, undefined, now);
    const endsAt = now + this.#row.quantumMs;
    do {
      const task = tasks.shift();
      if (task === undefined) break;
      party.taskOctets -= task.octets;
      this.#taskOctets -= task.octets;
      task.run();
    } while (this.#now() < endsAt);
    return true;
  }

  #begin(party: Party, what: string, octets: OpenTurn['octets'], beganAt: number): void {
    this.#open = { what, requests: 0, party, octets, beganAt };
    // `queueMicrotask` would create an async-hooks object per turn.
    void SETTLED.then(this.#afterPromises);
  }

  /** Begins a turn that sets up as many connections as fit the quantum; returns false if none may be set up. */
  #setUp(party: Party): boolean {
    if (!this.#mayConnect(party)) return false;
    const now = this.#now();
    this.#begin(party, 'connection', LEAST_READ_OCTETS, now);
    const endsAt = now + this.#row.quantumMs;
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

  /**
   * Estimates how much input fits the quantum. For a lone client, the cheaper of its last two reads decides. One expensive read proves little:
   * another process may have run during it, and small reads cost more per octet.
   */
  #octetsFor({ client, msPerOctet: cautious, cheaperMsPerOctet }: Party, now: number): number {
    const { quantumMs, readOctets } = this.#row;
    const isShared = this.#administrators.size + this.#others.size > 1;
    const most = isShared ? readOctets.shared : readOctets.alone;
    const isCautious = isShared || this.#isShared(client.key, now);
    const msPerOctet = isCautious ? cautious : cheaperMsPerOctet;
    return Math.max(LEAST_READ_OCTETS, Math.min(most, Math.floor(quantumMs / msPerOctet)));
  }

  /** Removes a client from the queue if it has nothing left to read or set up. Otherwise the client keeps its position, or joins the queue. */
  #rest(party: Party): void {
    const queue = this.#queueOf(party);
    if (party.isHeld && party.ready.size < party.mostWaiting / 2) letGo(party);
    if (party.ready.size + party.arrivals.size + party.tasks.length === 0) queue.delete(party);
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
    if (octets !== undefined) {
      // An expensive client probably stays expensive for a while.
      const seen = ms / Math.max(octets, LEAST_READ_OCTETS);
      party.msPerOctet = Math.max(seen, (party.msPerOctet + seen) / 2);
      party.cheaperMsPerOctet = Math.min(seen, party.lastMsPerOctet);
      party.lastMsPerOctet = seen;
    }
    if (requests > 0) party.requests.charge(requests, this.#row.requests.burst);
    if (isLimited(client) && party.busy.isEmpty && this.#isShared(client.key, turn.beganAt))
      this.#options.paused?.(client);
    this.#rest(party);
    // A lone client reads its buffered input in one round of the event loop, because each round costs more than a read.
    const isWaiting = party.ready.size + party.tasks.length > 0;
    if (now < this.#roundEndsAt && isWaiting && !this.#isShared(client.key, now)) this.#turn();
  };

  #charge(party: Party, ms: number): void {
    const { quantumMs, busy } = this.#row;
    party.leftMs = Math.max(party.leftMs - ms, -MOST_OWED_QUANTA * quantumMs);
    party.busy.charge(ms, busy.burst);
  }

  #isShared(key: string, now: number): boolean {
    if (this.#last === undefined) return false;
    const otherAt = this.#last.key === key ? this.#otherAt : this.#last.at;
    return now - otherAt < OTHERS_MS;
  }
}

/** Internal handle of a socket. Node's public API cannot stop reads: a paused stream still fills its buffer. */
interface Handle {
  reading: boolean;
  readStart(): number;
  readStop(): number;
}

function handleOf(socket: Readable): Handle | null | undefined {
  return (socket as unknown as { readonly _handle?: Handle | null })._handle;
}

/** Stops reading from a connection; its further input waits in the operating system. */
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
  // A stream with buffered input continues reading by itself.
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

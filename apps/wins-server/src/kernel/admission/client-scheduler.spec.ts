import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { EVERYBODY, UNIDENTIFIED_CLIENT, type ClientIdentity } from '@wins/base';
import { ClientScheduler, type Turn } from './client-scheduler.js';

const container = (key: string): ClientIdentity => ({ ...EVERYBODY, key, isEverybody: false });
const HOSTILE = container('container:hostile');
const OTHER = container('container:other');
const ADMINISTRATOR = { ...container('uid:0'), isAdministrator: true };
const KIB = 1024;
const OCTETS_PER_MS = 1000;

/** Clock that only the test and the connections' work advance. */
class Clock {
  now = 0;
  #waiting: { readonly at: number; readonly then: () => void }[] = [];

  readonly after = (ms: number, then: () => void): Disposable => {
    const one = { at: this.now + ms, then };
    this.#waiting.push(one);
    return {
      [Symbol.dispose]: () => (this.#waiting = this.#waiting.filter((each) => each !== one)),
    };
  };

  pass(ms: number): void {
    this.now += ms;
    const due = this.#waiting.filter(({ at }) => at <= this.now);
    this.#waiting = this.#waiting.filter(({ at }) => at > this.now);
    for (const { then } of due) then();
  }

  get timers(): number {
    return this.#waiting.length;
  }
}

describe('the turns of clients', () => {
  let clock: Clock;
  let scheduler: ClientScheduler;
  let ended: Turn[];
  let paused: string[];
  const sockets: PassThrough[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    scheduler[Symbol.dispose]();
  });
  beforeEach(() => {
    clock = new Clock();
    ended = [];
    paused = [];
    scheduler = new ClientScheduler({
      now: () => clock.now,
      after: clock.after,
      ended: (turn) => ended.push(turn),
      paused: ({ key }) => paused.push(key),
    });
  });

  /** Opens a connection. Reading its octets advances the clock, half in the `data` listener and half in a promise's callback. */
  function connect(
    client: ClientIdentity,
    {
      mayRead,
      mostWaiting,
      requests = 0,
    }: { mayRead?: () => boolean; mostWaiting?: number; requests?: number } = {},
  ) {
    const socket = new PassThrough({ highWaterMark: 256 * KIB });
    sockets.push(socket);
    const connection = { socket, octets: 0 };
    socket.on('data', (octets: Buffer) => {
      connection.octets += octets.length;
      for (let count = 0; count < requests; count += 1) scheduler.nameTurn('/a.B/C');
      clock.pass(octets.length / 2 / OCTETS_PER_MS);
      void Promise.resolve().then(() => clock.pass(octets.length / 2 / OCTETS_PER_MS));
    });
    scheduler.watch(socket, {
      client,
      what: 'test',
      ...(mayRead && { mayRead }),
      ...(mostWaiting !== undefined && { mostWaiting }),
    });
    return connection;
  }
  /** Waits for iterations of the event loop. A client may get one turn in each. */
  async function loops(count: number): Promise<void> {
    for (let each = 0; each < count; each += 1) await new Promise((done) => setImmediate(done));
  }
  const keys = (): string[] => ended.map(({ client }) => client.key);

  it('last until what a read caused is done, and have the name of the last request', async () => {
    const { socket } = connect(HOSTILE);
    socket.write(Buffer.alloc(200));
    await loops(4);
    socket.once('data', () => scheduler.nameTurn('/a.B/C'));
    socket.write(Buffer.alloc(400));
    await loops(4);
    expect(ended).toEqual([
      { what: 'test', client: HOSTILE, ms: expect.closeTo(0.2) as number },
      { what: '/a.B/C', client: HOSTILE, ms: expect.closeTo(0.4) as number },
    ]);
  });

  it('run tasks at once while nobody waits, and those that come meanwhile later', async () => {
    const tasks = scheduler.tasksOf(HOSTILE, 'datagram');
    const ran: number[] = [];
    const run = (number: number) =>
      tasks.run(100, () => {
        ran.push(number);
        clock.pass(0.1);
      });
    expect([run(1), run(2), run(3)]).toEqual([true, true, true]);
    expect(ran).toEqual([1]);
    await loops(4);
    expect(ran).toEqual([1, 2, 3]);
    expect(ended).toEqual([
      { what: 'datagram', client: HOSTILE, ms: expect.closeTo(0.1) as number },
      { what: 'datagram', client: HOSTILE, ms: expect.closeTo(0.2) as number },
    ]);
    tasks.close();
    tasks.close();
    clock.pass(60_000);
    expect(clock.timers).toBe(0);
  });

  it('come to another client between the tasks of a flood, of which some are dropped', async () => {
    const tasks = scheduler.tasksOf(HOSTILE, 'datagram');
    const flood = (): number => {
      let dropped = 0;
      for (let each = 0; each < 1000; each += 1)
        if (!tasks.run(KIB, () => clock.pass(0.1))) dropped += 1;
      return dropped;
    };
    expect(flood()).toBeGreaterThan(800);
    const other = connect(OTHER);
    for (let call = 0; call < 10; call += 1) {
      const [before, at] = [other.octets, ended.length];
      other.socket.write(Buffer.alloc(100));
      while (other.octets === before) await loops(1);
      flood();
      const others = keys().slice(at);
      expect(others.filter((key) => key === HOSTILE.key).length).toBeLessThanOrEqual(2);
    }
    expect(Math.max(...ended.map(({ ms }) => ms))).toBeLessThan(2);
    // More tasks of many clients than the daemon keeps.
    const clients = Array.from({ length: 40 }, (_, each) =>
      scheduler.tasksOf(container(`address ${each}`), 'datagram'),
    );
    const taken = clients.map((one) => {
      let count = 0;
      while (one.run(64 * KIB, () => undefined)) count += 1;
      return count;
    });
    expect(taken.at(-1)).toBe(0);
    for (const one of clients) while (one.run(KIB, () => undefined));
    // A client with little to do is not kept out by them.
    const late = scheduler.tasksOf(container('address late'), 'datagram');
    const runs: string[] = [];
    expect(late.run(KIB, () => void runs.push('late'))).toBe(true);
    while (late.run(KIB, () => undefined));
    while (runs.length === 0) await loops(1);
  });

  it('alternate between the tasks and the connections of one client', async () => {
    const tasks = scheduler.tasksOf(HOSTILE, 'datagram');
    const connection = connect(HOSTILE);
    connect(OTHER).socket.write(Buffer.alloc(100));
    await loops(4);
    ended.length = 0;
    connection.socket.write(Buffer.alloc(64 * KIB));
    for (let each = 0; each < 100; each += 1) tasks.run(KIB, () => clock.pass(0.5));
    await loops(12);
    const names = ended.slice(0, 8).map(({ what }) => what);
    expect(names.filter((name) => name === 'test').length).toBeGreaterThanOrEqual(3);
    expect(names.filter((name) => name === 'datagram').length).toBeGreaterThanOrEqual(3);
  });

  it('come soon to a connection with little input among busy ones of the same client', async () => {
    const bulk = Array.from({ length: 12 }, () => connect(HOSTILE, { mostWaiting: 64 }));
    const few = connect(HOSTILE, { mostWaiting: 64 });
    for (const { socket } of bulk) socket.write(Buffer.alloc(200 * KIB));
    await loops(60);
    for (let call = 0; call < 10; call += 1) {
      const [before, at] = [few.octets, ended.length];
      few.socket.write(Buffer.alloc(100));
      while (few.octets === before) await loops(1);
      expect(ended.length - at).toBeLessThanOrEqual(3);
    }
  });

  it('run tasks at once after the end, because connections are read freely then', () => {
    const tasks = scheduler.tasksOf(HOSTILE, 'datagram');
    const ran: number[] = [];
    for (const each of [1, 2]) tasks.run(1, () => ran.push(each));
    scheduler[Symbol.dispose]();
    for (const each of [3, 4]) tasks.run(1, () => ran.push(each));
    expect(ran).toEqual([1, 3, 4]);
  });

  it('come to a client at once, however many busy connections another one has', async () => {
    const hostile = Array.from({ length: 60 }, () => connect(HOSTILE));
    for (const { socket } of hostile) socket.write(Buffer.alloc(64 * KIB));
    await loops(50);
    const other = connect(OTHER);
    for (let call = 0; call < 10; call += 1) {
      const [before, at] = [other.octets, ended.length];
      other.socket.write(Buffer.alloc(100));
      for (let tries = 0; other.octets === before; tries += 1) {
        expect(tries).toBeLessThan(5);
        await loops(1);
      }
      expect(
        keys()
          .slice(at)
          .filter((key) => key === HOSTILE.key).length,
      ).toBeLessThanOrEqual(2);
    }
    for (const { client, ms } of ended.slice(10))
      expect([client.key, ms < 3]).toEqual([client.key, true]);
  });

  it('come first to a client that asks for little, among eight that ask all the time, with at most one quantum before theirs', async () => {
    const hostile = Array.from({ length: 8 }, (_, index) => connect(container(`hostile-${index}`)));
    const fill = (): void => {
      for (const { socket } of hostile)
        if (socket.readableLength < 32 * KIB) socket.write(Buffer.alloc(32 * KIB));
    };
    fill();
    await loops(40);
    const other = connect(OTHER);
    for (let call = 0; call < 4; call += 1) {
      fill();
      const at = ended.length;
      other.socket.write(Buffer.alloc(100));
      while (!keys().slice(at).includes(OTHER.key)) await loops(1);
      // One turn may be in progress.
      expect(keys().indexOf(OTHER.key, at) - at).toBeLessThanOrEqual(1);
      fill();
      await loops(20);
    }
    // From now on, the other client sends more as soon as all its earlier octets have been read.
    const from = ended.length;
    for (let each = 0; each < 200; each += 1) {
      if (other.socket.readableLength === 0) other.socket.write(Buffer.alloc(1000));
      fill();
      await loops(1);
    }
    const spent = (key: string): number =>
      ended.slice(from).reduce((sum, turn) => sum + (turn.client.key === key ? turn.ms : 0), 0);
    expect(spent(OTHER.key)).toBeLessThan(2 * spent('hostile-0'));
  });

  it('begin at once for a client while nobody waits, but not for ever', async () => {
    const hostile = connect(HOSTILE);
    hostile.socket.write(Buffer.alloc(1000));
    await loops(4);
    let reads = 1;
    for (; hostile.octets === 1000 * reads; reads += 1) {
      expect(reads).toBeLessThan(100);
      hostile.socket.write(Buffer.alloc(1000));
      for (let tick = 0; tick < 8; tick += 1)
        await new Promise<void>((done) => process.nextTick(done));
    }
    // The client has used up its immediate turns, so its last write waits for the event loop.
    expect(reads).toBeGreaterThan(10);
    await loops(4);
    expect(hostile.octets).toBe(1000 * reads);
  });

  it('are not shortened for a lone client by one that took long, but by a second one', async () => {
    const socket = new PassThrough({ highWaterMark: 256 * KIB });
    sockets.push(socket);
    const reads: number[] = [];
    const costs = [0.01, 0.01, 30, 0.01, 30, 30];
    socket.on('data', (octets: Buffer) => {
      clock.pass(costs[reads.length] ?? 0.01);
      reads.push(octets.length);
    });
    scheduler.watch(socket, { client: HOSTILE, what: 'test' });
    for (let each = 0; each <= costs.length; each += 1) {
      socket.write(Buffer.alloc(4 * KIB));
      await loops(4);
    }
    expect(reads.slice(0, costs.length)).toEqual(costs.map(() => 4 * KIB));
    expect(reads[costs.length]).toBeLessThan(KIB);
  });

  it('follow each other in one round of the event loop, for a lone client with little work', async () => {
    const socket = new PassThrough({ highWaterMark: 256 * KIB });
    sockets.push(socket);
    const rounds: number[] = [];
    let round = 0;
    socket.on('data', () => rounds.push(round));
    scheduler.watch(socket, { client: HOSTILE, what: 'test' });
    clock.pass(1);
    for (const octets of [4, 64, 64]) socket.write(Buffer.alloc(octets * KIB));
    for (; round < 8; round += 1) await loops(1);
    expect(rounds.length).toBeGreaterThan(2);
    expect(new Set(rounds.slice(1)).size).toBe(1);
  });

  it('give each client the same time, whatever its work is and on how many connections', async () => {
    const many = Array.from({ length: 20 }, () => connect(HOSTILE));
    const one = connect(OTHER);
    for (const { socket } of [...many, one]) socket.write(Buffer.alloc(250 * KIB));
    await loops(150);
    const used = (key: string): number =>
      ended.reduce((sum, { client, ms }) => sum + (client.key === key ? ms : 0), 0);
    expect(one.octets).toBeLessThan(250 * KIB);
    expect(used(HOSTILE.key) / used(OTHER.key)).toBeCloseTo(1, 0);
    expect(many.every(({ octets }) => octets > 0)).toBe(true);
  });

  it('come to a client again soon after one that took long: the system may have let others run', async () => {
    const [hostile, other] = [connect(HOSTILE), connect(OTHER)];
    hostile.socket.write(Buffer.alloc(250 * KIB));
    other.socket.once('data', () => clock.pass(60_000));
    other.socket.write(Buffer.alloc(100));
    await loops(6);
    expect(other.octets).toBe(100);
    other.socket.write(Buffer.alloc(100));
    const before = hostile.octets;
    for (let tries = 0; other.octets === 100; tries += 1) {
      expect(tries).toBeLessThan(100);
      await loops(1);
    }
    expect(hostile.octets - before).toBeLessThan(30 * OCTETS_PER_MS);
  });

  it('are every second one of an administrator', async () => {
    for (const client of [HOSTILE, OTHER, container('third'), ADMINISTRATOR])
      connect(client).socket.write(Buffer.alloc(250 * KIB));
    await loops(60);
    const theirs = keys().filter((key) => key === ADMINISTRATOR.key).length;
    expect(theirs / ended.length).toBeCloseTo(0.5, 1);
  });

  it('do not come to a client that made more requests than its rate while another is served', async () => {
    const busy = connect(HOSTILE, { requests: 1500 });
    const other = connect(OTHER);
    const send = async (): Promise<void> => {
      busy.socket.write(Buffer.alloc(100));
      other.socket.write(Buffer.alloc(100));
      await loops(6);
    };
    await send();
    await send();
    expect([busy.octets, other.octets]).toEqual([200, 200]);
    await send();
    expect([busy.octets, other.octets]).toEqual([200, 300]);
    expect(new Set(paused)).toEqual(new Set([HOSTILE.key]));
    clock.pass(2100);
    await loops(4);
    expect(busy.octets).toBe(300);
  });

  /** Opens connections; `setUp` counts the completed ones. */
  function arrive(client: ClientIdentity, count: number, eachMs = 0) {
    const arrived = { sockets: [] as PassThrough[], setUp: 0 };
    for (let each = 0; each < count; each += 1) {
      const socket = new PassThrough();
      sockets.push(socket);
      arrived.sockets.push(socket);
      scheduler.admit(socket, client, clock.now, () => {
        arrived.setUp += 1;
        clock.pass(eachMs);
      });
    }
    return arrived;
  }

  it('include new connections: however many one client opens, another gets its turn', async () => {
    const hostile = arrive(HOSTILE, 100, 1);
    const other = arrive(OTHER, 1, 1);
    for (let tries = 0; other.setUp === 0; tries += 1) {
      expect(tries).toBeLessThan(4);
      await loops(1);
    }
    expect(hostile.setUp).toBeLessThan(10);
    expect(keys()).toContain(HOSTILE.key);
  });

  it('are charged with what it took to accept a connection', async () => {
    const [hostile, other] = [connect(HOSTILE), connect(OTHER)];
    hostile.socket.write(Buffer.alloc(16 * KIB));
    other.socket.write(Buffer.alloc(16 * KIB));
    for (let each = 0; each < 10; each += 1) {
      scheduler.admit(new PassThrough(), HOSTILE, clock.now - 10, () => undefined);
      await loops(1);
    }
    await loops(8);
    expect(other.octets).toBeGreaterThan(4 * hostile.octets);
  });

  it.each([
    ['a client', HOSTILE, 128],
    ['all clients together that the system cannot identify', UNIDENTIFIED_CLIENT, 64],
    ['an administrator, who has no rate', ADMINISTRATOR, 300],
  ])('set up connections of %s at a rate; others wait', async (_whose, client, burst) => {
    const many = arrive(client, 300);
    await loops(30);
    expect(many.setUp).toBe(burst);
    for (let each = 0; each < 20; each += 1) {
      clock.pass(50);
      await loops(4);
    }
    expect(many.setUp).toBe(Math.min(300, burst + burst / 4));
  });

  it('set up no connection that has ended while it waited, and forget its client in time', async () => {
    const many = arrive(HOSTILE, 150);
    await loops(8);
    for (const socket of many.sockets) socket.destroy();
    await loops(4);
    // No connection of this client waits any more.
    paused.length = 0;
    clock.pass(50);
    await loops(4);
    expect(paused).toEqual([]);
    clock.pass(4100);
    await loops(4);
    expect(many.setUp).toBe(128);
    expect(clock.timers).toBe(0);
    // This stream never emits `close`.
    const ending = new PassThrough({ destroy: () => undefined });
    scheduler.admit(ending, OTHER, clock.now, () => expect('set up').toBe('not set up'));
    ending.destroy();
    await loops(4);
    expect(ended.at(-1)?.client).toBe(OTHER);
  });

  it('go on when a connection cannot be set up, which is destroyed', async () => {
    const failing = new PassThrough();
    const failed = once(failing, 'error');
    scheduler.admit(failing, HOSTILE, clock.now, () => {
      throw new Error('no descriptor is left');
    });
    const next = arrive(HOSTILE, 1);
    expect(await failed).toEqual([new Error('no descriptor is left')]);
    await loops(4);
    expect([next.setUp, failing.destroyed]).toEqual([1, true]);
  });

  it('come after several connections were accepted, one in each round of the event loop', async () => {
    const { socket } = connect(OTHER);
    connect(HOSTILE).socket.write(Buffer.alloc(100));
    socket.write(Buffer.alloc(250 * KIB));
    await loops(10);
    const before = ended.length;
    for (let each = 0; each < 128; each += 1) {
      arrive(HOSTILE, 1);
      await loops(1);
    }
    expect(ended.length - before).toBeGreaterThanOrEqual(3);
    expect(ended.length - before).toBeLessThanOrEqual(5);
  });

  it('are told of when a client used more than half of the time while others were served', async () => {
    const [hostile, other] = [connect(HOSTILE), connect(OTHER)];
    for (let round = 0; paused.length === 0; round += 1) {
      expect(round).toBeLessThan(200);
      hostile.socket.write(Buffer.alloc(64 * KIB));
      other.socket.write(Buffer.alloc(10));
      await loops(40);
    }
    expect(paused[0]).toBe(HOSTILE.key);
  });

  it.each([
    ['nobody shares with it', HOSTILE],
    ['it is an administrator', ADMINISTRATOR],
    ['clients cannot be told apart', EVERYBODY],
  ])('have no rate for a client when %s', async (_when, client) => {
    const { socket } = connect(client, { requests: 5000 });
    if (client !== HOSTILE) connect(OTHER).socket.write(Buffer.alloc(10));
    for (let round = 0; round < 3; round += 1) {
      socket.write(Buffer.alloc(10));
      await loops(4);
    }
    expect(keys().filter((key) => key === client.key)).toHaveLength(3);
    expect(paused).toEqual([]);
  });

  it('lose nothing and change no order, to the end of a connection', async () => {
    const sent = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
    const { socket } = connect(HOSTILE);
    const rival = connect(OTHER);
    const got: Buffer[] = [];
    socket.on('data', (octets: Buffer) => got.push(octets));
    rival.socket.write(Buffer.alloc(100_000));
    for (let at = 0; at < sent.length; at += 7000) socket.write(sent.subarray(at, at + 7000));
    socket.end();
    await once(socket, 'end');
    expect(Buffer.concat(got).equals(sent)).toBe(true);
    expect(got.length).toBeGreaterThan(10);
  });

  it('leave alone a connection that its processor lets rest, until it is resumed', async () => {
    let mayGoOn = false;
    const { socket, ...connection } = connect(HOSTILE, { mayRead: () => mayGoOn });
    let octets = 0;
    socket.on('data', (some: Buffer) => (octets += some.length));
    socket.write(Buffer.alloc(10));
    await loops(4);
    expect([octets, connection.octets]).toEqual([0, 0]);
    mayGoOn = true;
    socket.resume();
    await loops(4);
    expect(octets).toBe(10);
  });

  it('go on for a client one of whose connections tells of itself after it has closed', async () => {
    const [gone, left] = [connect(HOSTILE), connect(HOSTILE)];
    const other = connect(OTHER);
    gone.socket.destroy();
    await once(gone.socket, 'close');
    gone.socket.emit('resume');
    for (const { socket } of [left, other]) socket.write(Buffer.alloc(100));
    await loops(6);
    expect([left.octets, other.octets]).toEqual([100, 100]);
    expect(ended).toHaveLength(2);
  });

  it('remember the debt of a client that has left, until time has paid it', async () => {
    const first = connect(HOSTILE, { requests: 2100 });
    connect(OTHER).socket.write(Buffer.alloc(10));
    first.socket.write(Buffer.alloc(10));
    await loops(6);
    first.socket.destroy();
    await loops(2);
    const second = connect(HOSTILE);
    second.socket.write(Buffer.alloc(10));
    await loops(4);
    expect(second.octets).toBe(0);
    second.socket.destroy();
    await loops(2);
    clock.pass(10_000);
    await loops(2);
    expect(clock.timers).toBe(0);
  });

  it('are over for all once they are disposed of: connections flow', async () => {
    const { socket } = connect(HOSTILE, { mayRead: () => false });
    const flowing = once(socket, 'end');
    socket.write(Buffer.alloc(KIB));
    await loops(3);
    scheduler[Symbol.dispose]();
    socket.end();
    await flowing;
    expect(clock.timers).toBe(0);
    expect(ended).toEqual([]);
  });
});

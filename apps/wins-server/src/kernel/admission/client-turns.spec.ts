import { PassThrough } from 'node:stream';
import { EVERYBODY, type ClientIdentity } from './client-identity.js';
import { ClientTurns, type Turn } from './client-turns.js';

const container = (key: string): ClientIdentity => ({ ...EVERYBODY, key, isEverybody: false });
const HOSTILE = container('container:hostile');
const OTHER = container('container:other');
const ADMINISTRATOR = { ...container('uid:0'), isAdministrator: true };

/** A daemon whose clock goes forward only by its work, and by what a test does. */
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

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the turns of clients', () => {
  let clock: Clock;
  let turns: ClientTurns;
  let ended: Turn[];
  let paused: string[];
  beforeEach(() => {
    clock = new Clock();
    ended = [];
    paused = [];
    turns = new ClientTurns({
      now: () => clock.now,
      after: clock.after,
      ended: (turn) => ended.push(turn),
      paused: ({ key }) => paused.push(key),
    });
  });

  /** A connection on which each octet is a millisecond of work, the half of it in a promise's callback. */
  function connect(client: ClientIdentity, mayResume?: () => boolean) {
    const socket = new PassThrough();
    const done: number[] = [];
    socket.on('data', (octets: Buffer) => {
      done.push(octets.length);
      clock.pass(octets.length / 2);
      void Promise.resolve().then(() => clock.pass(octets.length / 2));
    });
    turns.watch(socket, { client, what: 'test', ...(mayResume && { mayResume }) });
    const send = async (ms: number): Promise<void> => {
      socket.write(Buffer.alloc(ms));
      await settled();
    };
    return { socket, done, send };
  }

  it('last as long when the next read comes before the tick that would end them', async () => {
    const [one, next] = [connect(HOSTILE), connect(OTHER)];
    const read = (): boolean => next.socket.emit('data', Buffer.alloc(6));
    void Promise.resolve().then(() => process.nextTick(read));
    one.socket.emit('data', Buffer.alloc(10));
    await settled();
    expect(ended.map(({ client, ms }) => [client, ms])).toEqual([
      [HOSTILE, 10],
      [OTHER, 6],
    ]);
  });

  it('last until what a read caused is done, and have the name of what they began', async () => {
    const { send, socket } = connect(HOSTILE);
    await send(10);
    socket.once('data', () => turns.name('/a.B/C'));
    await send(4);
    expect(ended).toEqual([
      { what: 'test', client: HOSTILE, ms: 10 },
      { what: '/a.B/C', client: HOSTILE, ms: 4 },
    ]);
  });

  it('stop for a client that has used its share while another is served, on all of its connections', async () => {
    const [first, second] = [connect(HOSTILE), connect(HOSTILE)];
    const other = connect(OTHER);
    await other.send(2);
    await first.send(1200);
    await other.send(2);
    await first.send(2);
    await other.send(2);
    expect(paused).toEqual([HOSTILE.key]);
    await second.send(8);
    await other.send(2);
    expect(second.done).toEqual([]);
    expect(other.done).toEqual([2, 2, 2, 2]);

    clock.pass(2001);
    await settled();
    expect(second.done).toEqual([8]);
  });

  it('stop also for connections that the client opens meanwhile', async () => {
    const first = connect(HOSTILE);
    await connect(OTHER).send(2);
    await first.send(1100);
    expect(paused).toEqual([HOSTILE.key]);
    const newcomer = connect(HOSTILE);
    await newcomer.send(2);
    expect(newcomer.done).toEqual([]);
    clock.pass(2001);
    await settled();
    expect(newcomer.done).toEqual([2]);
  });

  it('go on for a client with whom nobody shares', async () => {
    const { send, done } = connect(HOSTILE);
    await connect(OTHER).send(2);
    clock.pass(1001);
    for (let round = 0; round < 5; round += 1) await send(1000);
    expect(done).toHaveLength(5);
    expect(paused).toEqual([]);
  });

  it.each([
    ['an administrator', ADMINISTRATOR],
    ['who cannot be told apart', EVERYBODY],
  ])('go on for %s', async (_who, client) => {
    const { send, done } = connect(client);
    for (let round = 0; round < 5; round += 1) {
      await connect(OTHER).send(2);
      await send(1000);
    }
    expect(done).toHaveLength(5);
    expect(paused).toEqual([]);
  });

  it('are not forgotten with the connections', async () => {
    const first = connect(HOSTILE);
    await connect(OTHER).send(2);
    await first.send(990);
    first.socket.destroy();
    await settled();
    const second = connect(HOSTILE);
    await connect(OTHER).send(2);
    await second.send(50);
    expect(paused).toEqual([HOSTILE.key]);
    second.socket.destroy();
    await settled();
    clock.pass(10_000);
    expect(clock.timers).toBe(0);
  });

  it('do not make a connection go on that its reader lets rest', async () => {
    let mayGoOn = false;
    const resting = connect(HOSTILE, () => mayGoOn);
    const active = connect(HOSTILE);
    await connect(OTHER).send(2);
    await active.send(1100);
    await resting.send(2);
    clock.pass(2001);
    await settled();
    expect(resting.done).toEqual([]);
    mayGoOn = true;
    resting.socket.resume();
    await settled();
    expect(resting.done).toEqual([2]);
  });

  it('let all that waits be read once nothing is measured any more', async () => {
    const { send, done } = connect(HOSTILE);
    await connect(OTHER).send(2);
    await send(1100);
    await send(3);
    expect(done).toEqual([1100]);
    turns[Symbol.dispose]();
    await settled();
    expect(done).toEqual([1100, 3]);
    expect(clock.timers).toBe(0);
  });
});

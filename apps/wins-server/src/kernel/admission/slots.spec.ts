import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { ClientIdentity } from '@wins/base';
import { Slots, type Slot } from './slots.js';
import { Shares } from './shares.js';

const client = (key: string, isAdministrator = false): ClientIdentity => ({
  key,
  isAdministrator,
  isEverybody: false,
  description: { container: key },
  names: [],
});
const hostile = client('hostile');
const honest = client('honest');

describe('the slots of a pipe', () => {
  let away: string[];
  let slots: Slots;
  const make = ({ connections = 17, handshakes = 16 } = {}): Slots => {
    const row = { what: 'slots', floor: 1, atLimit: 'yields' } as const;
    return new Slots({
      handshakes: new Shares({ ...row, total: 2 * handshakes, reserve: 0 }),
      connections: new Shares({ ...row, total: connections, reserve: 1 }),
      turnedAway: ({ key }, why) => away.push(`${key} ${why}`),
    });
  };
  beforeEach(() => {
    away = [];
    slots = make();
  });

  interface Guest {
    readonly connection: PassThrough;
    readonly slot: Slot;
  }
  function enter(who: ClientIdentity): Guest {
    const connection = new PassThrough();
    return { connection, slot: slots.enter(connection, who) };
  }
  const several = (count: number, who: ClientIdentity): Guest[] =>
    Array.from({ length: count }, () => enter(who));

  it('are not used up by connections that never greet and are reopened whenever they are closed (A49)', async () => {
    for (let round = 0; round < 10; round += 1) {
      several(16, hostile);
      const guest = enter(honest);
      several(15, hostile);
      expect(guest.slot.settle()).toBe(true);
      guest.connection.destroy();
      await once(guest.connection, 'close');
    }
    expect(new Set(away)).toEqual(new Set(['hostile slow-greeting']));
  });

  it('are free as soon as a connection is closed, whatever is called for it later', async () => {
    const [greeting, settled] = [enter(honest), enter(honest)];
    expect(settled.slot.settle()).toBe(true);
    for (const { connection } of [greeting, settled]) {
      connection.destroy();
      await once(connection, 'close');
    }
    expect(slots.size).toBe(0);
    expect(greeting.slot.settle()).toBe(false);
    settled.slot.end();
    expect(slots.size).toBe(0);
  });

  it('are free at once when a connection is ended for another', () => {
    slots = make({ handshakes: 4 });
    const guests = several(100, hostile);
    expect(slots.size).toBe(4);
    expect(guests.filter(({ connection }) => !connection.destroyed)).toHaveLength(4);
    expect(guests.slice(-4).every(({ slot }) => slot.settle())).toBe(true);
  });

  it('of one client end where another begins', () => {
    const own = several(9, hostile).map(({ slot }) => {
      const isIn = slot.settle();
      slot.begin();
      return isIn;
    });
    expect(own).toEqual([...Array<boolean>(8).fill(true), false]);
    expect(enter(honest).slot.settle()).toBe(true);
    expect(away).toEqual(['hostile client-limit']);
  });

  it('are kept by who has a call, and lost by the oldest that has none', () => {
    slots = make({ connections: 7 });
    const [first, second, third, fourth] = several(4, hostile);
    for (const guest of [first, second, third]) guest?.slot.settle();
    first?.slot.begin();
    second?.slot.begin();
    second?.slot.end();
    expect(fourth?.slot.settle()).toBe(true);
    expect([first, second, third].map((guest) => guest?.connection.destroyed)).toEqual([
      false,
      true,
      false,
    ]);
    expect(away).toEqual(['hostile idle']);
  });

  it('are there for an administrator when all others are taken', () => {
    for (const key of ['a', 'b'])
      for (const { slot } of several(8, client(key))) {
        slot.settle();
        slot.begin();
      }
    expect(slots.size).toBe(16);
    expect(enter(client('uid:0', true)).slot.settle()).toBe(true);
    expect([away, slots.size]).toEqual([[], 17]);
  });

  it('are there for a client without any when others have all: whose are the most loses an idle one, else the newest', () => {
    const [idle, busy] = [several(8, client('a')), several(8, client('b'))];
    for (const { slot } of [...idle, ...busy]) slot.settle();
    for (const { slot } of busy) slot.begin();
    for (const { slot } of idle.slice(0, -1)) slot.begin();
    for (let count = 0; count < 5; count += 1) expect(enter(honest).slot.settle()).toBe(true);
    expect(away).toEqual(['a idle', 'b most-held', 'a most-held', 'b most-held', 'a most-held']);
    expect(idle.map(({ connection }) => connection.destroyed).indexOf(true)).toBe(5);
    // If a client exceeds its share, its new connection replaces one of its own.
    expect(enter(honest).slot.settle()).toBe(true);
    expect(away.at(-1)).toBe('honest idle');
  });

  it('are refused to a client without any when each of the others has one, and that is told', () => {
    slots = make({ handshakes: 1 });
    enter(client('a'));
    enter(client('b'));
    const { connection, slot } = enter(honest);
    expect([connection.destroyed, slot.settle()]).toEqual([true, false]);
    expect([away, slots.size]).toEqual([['honest slow-greeting'], 2]);
  });

  it('hold nothing of ten thousand clients that came and went', async () => {
    for (let index = 0; index < 10_000; index += 1) {
      const { connection, slot } = enter(client(`${index}`));
      if (index % 2 === 0) slot.settle();
      connection.destroy();
      await once(connection, 'close');
    }
    expect(slots.size).toBe(0);
  });
});

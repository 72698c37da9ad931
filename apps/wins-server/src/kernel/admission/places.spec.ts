import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { ClientIdentity } from '@wins/base';
import { Places, type Place } from './places.js';
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

describe('the places of a pipe', () => {
  let away: string[];
  let places: Places;
  const make = ({ connections = 17, handshakes = 16 } = {}): Places => {
    const row = { what: 'places', floor: 1, atLimit: 'yields' } as const;
    return new Places({
      handshakes: new Shares({ ...row, total: 2 * handshakes, reserve: 0 }),
      connections: new Shares({ ...row, total: connections, reserve: 1 }),
      turnedAway: ({ key }, why) => away.push(`${key} ${why}`),
    });
  };
  beforeEach(() => {
    away = [];
    places = make();
  });

  interface Guest {
    readonly connection: PassThrough;
    readonly place: Place;
  }
  function enter(who: ClientIdentity): Guest {
    const connection = new PassThrough();
    return { connection, place: places.enter(connection, who) };
  }
  const several = (count: number, who: ClientIdentity): Guest[] =>
    Array.from({ length: count }, () => enter(who));

  it('are not used up by connections that never greet and are reopened whenever they are closed (A49)', async () => {
    for (let round = 0; round < 10; round += 1) {
      several(16, hostile);
      const guest = enter(honest);
      several(15, hostile);
      expect(guest.place.settle()).toBe(true);
      guest.connection.destroy();
      await once(guest.connection, 'close');
    }
    expect(new Set(away)).toEqual(new Set(['hostile slow-greeting']));
  });

  it('are free as soon as a connection is closed, whatever is called for it later', async () => {
    const [greeting, settled] = [enter(honest), enter(honest)];
    expect(settled.place.settle()).toBe(true);
    for (const { connection } of [greeting, settled]) {
      connection.destroy();
      await once(connection, 'close');
    }
    expect(places.size).toBe(0);
    expect(greeting.place.settle()).toBe(false);
    settled.place.end();
    expect(places.size).toBe(0);
  });

  it('are free at once when a connection is ended for another', () => {
    places = make({ handshakes: 4 });
    const guests = several(100, hostile);
    expect(places.size).toBe(4);
    expect(guests.filter(({ connection }) => !connection.destroyed)).toHaveLength(4);
    expect(guests.slice(-4).every(({ place }) => place.settle())).toBe(true);
  });

  it('of one client end where another begins', () => {
    const own = several(9, hostile).map(({ place }) => {
      const isIn = place.settle();
      place.begin();
      return isIn;
    });
    expect(own).toEqual([...Array<boolean>(8).fill(true), false]);
    expect(enter(honest).place.settle()).toBe(true);
    expect(away).toEqual(['hostile client-limit']);
  });

  it('are kept by who has a call, and lost by the oldest that has none', () => {
    places = make({ connections: 7 });
    const [first, second, third, fourth] = several(4, hostile);
    for (const guest of [first, second, third]) guest?.place.settle();
    first?.place.begin();
    second?.place.begin();
    second?.place.end();
    expect(fourth?.place.settle()).toBe(true);
    expect([first, second, third].map((guest) => guest?.connection.destroyed)).toEqual([
      false,
      true,
      false,
    ]);
    expect(away).toEqual(['hostile idle']);
  });

  it('are there for an administrator when all others are taken', () => {
    for (const key of ['a', 'b'])
      for (const { place } of several(8, client(key))) {
        place.settle();
        place.begin();
      }
    expect(places.size).toBe(16);
    expect(enter(client('uid:0', true)).place.settle()).toBe(true);
    expect([away, places.size]).toEqual([[], 17]);
  });

  it('are there for a client without any when others have all: whose are the most loses an idle one, else the newest', () => {
    const [idle, busy] = [several(8, client('a')), several(8, client('b'))];
    for (const { place } of [...idle, ...busy]) place.settle();
    for (const { place } of busy) place.begin();
    for (const { place } of idle.slice(0, -1)) place.begin();
    for (let count = 0; count < 5; count += 1) expect(enter(honest).place.settle()).toBe(true);
    expect(away).toEqual(['a idle', 'b most-held', 'a most-held', 'b most-held', 'a most-held']);
    expect(idle.map(({ connection }) => connection.destroyed).indexOf(true)).toBe(5);
    // If a client exceeds its share, its new connection replaces one of its own.
    expect(enter(honest).place.settle()).toBe(true);
    expect(away.at(-1)).toBe('honest idle');
  });

  it('hold nothing of ten thousand clients that came and went', async () => {
    for (let index = 0; index < 10_000; index += 1) {
      const { connection, place } = enter(client(`${index}`));
      if (index % 2 === 0) place.settle();
      connection.destroy();
      await once(connection, 'close');
    }
    expect(places.size).toBe(0);
  });
});

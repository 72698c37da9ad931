import type { ClientIdentity } from './client-identity.js';

/** How much room there is. */
export interface Room {
  /** Connections that have greeted. One of them is kept for administrators, if there are two. */
  readonly places: number;
  /** Of these, for one client. Clients that cannot be told apart, and administrators, may have all that is left. */
  readonly placesPerClient: number;
  /** Connections that have not greeted yet. */
  readonly greetings: number;
}

/** What one client has. */
export interface Holding {
  readonly places: number;
  /** Of these, those without a call. */
  readonly idle: number;
}

/** Whose oldest connection makes room. */
export type EntryVerdict =
  | { readonly kind: 'admit' }
  | { readonly kind: 'evict'; readonly key: string }
  | { readonly kind: 'refuse'; readonly rule: 'client-limit' | 'full' };

/**
 * Whose oldest unfinished greeting ends for a newcomer: that of the client with the most of them, the newcomer counted. So many
 * clients as there are may have an equal share of the room at least, whatever any one of them does.
 */
export function judgeGreeting(
  greeting: ReadonlyMap<string, number>,
  room: Pick<Room, 'greetings'>,
  newcomer: string,
): EntryVerdict {
  let total = 0;
  let heaviest = newcomer;
  const countOf = (key: string): number => (greeting.get(key) ?? 0) + (key === newcomer ? 1 : 0);
  for (const [key, count] of greeting) {
    total += count;
    if (countOf(key) > countOf(heaviest)) heaviest = key;
  }
  if (total < room.greetings) return { kind: 'admit' };
  // A client without any is never the heaviest while another has one.
  return { kind: 'evict', key: heaviest };
}

/**
 * Whether a connection that has greeted gets a place. In a full house the oldest connection without a call makes room: the
 * newcomer's own if it has as many as it may, else that of the client with the most, if that has two more than the newcomer.
 */
export function judgePlace(
  holdings: ReadonlyMap<string, Holding>,
  room: Room,
  newcomer: Pick<ClientIdentity, 'key' | 'isAdministrator' | 'isEverybody'>,
): EntryVerdict {
  const own = holdings.get(newcomer.key) ?? { places: 0, idle: 0 };
  const isLimited = !newcomer.isAdministrator && !newcomer.isEverybody;
  if (isLimited && own.places >= room.placesPerClient) {
    if (own.idle > 0) return { kind: 'evict', key: newcomer.key };
    return { kind: 'refuse', rule: 'client-limit' };
  }
  let total = 0;
  let heaviest: { readonly key: string; readonly places: number } | undefined;
  for (const [key, { places, idle }] of holdings) {
    total += places;
    if (idle > 0 && places > (heaviest?.places ?? 0)) heaviest = { key, places };
  }
  const kept = newcomer.isAdministrator || room.places < 2 ? 0 : 1;
  if (total < room.places - kept) return { kind: 'admit' };
  const isUnequal = heaviest !== undefined && heaviest.places > own.places + 1;
  if (heaviest !== undefined && (isUnequal || heaviest.key === newcomer.key))
    return { kind: 'evict', key: heaviest.key };
  return { kind: 'refuse', rule: 'full' };
}

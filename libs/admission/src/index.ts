/**
 * Who of many clients comes in, and how much of the processor each gets.
 *
 * It owns: places for connections and who makes room for whom, the number of calls of a client, its share of the processor, and the
 * counting of what clients can cause in floods. It does not own: who a client is, which is a port, {@link IdentifyClient}.
 *
 * @example
 * const places = new Places({ places: 100, placesPerClient: 50, greetings: 50, turnedAway: () => {} });
 * const place = places.enter(socket, client);
 * if (place.settle()) serve(socket);
 * @module
 */
export { ClientCalls, MOST_CALLS } from './client-calls.js';
export {
  EVERYBODY,
  type ClientDescription,
  type ClientIdentity,
  type IdentifyClient,
} from './client-identity.js';
export { clientLabel } from './client-label.js';
export {
  ClientTurns,
  type ClientTurnsOptions,
  type Turn,
  type TurnConnection,
} from './client-turns.js';
export type { Room } from './judge-entry.js';
export { Places, type Place, type PlacesOptions, type TurnedAway } from './places.js';
export { Tally, tallyLog, type TallyLog } from './tally.js';

/**
 * The last events of a program, in a ring of files of bounded size that survives a restart.
 *
 * It owns: the files, their numbers and bounds, what a crash left of a line, the counting of what cannot be written and of floods, and
 * reading it all. It does not own: what an event is about, and who may read it.
 *
 * @example
 * await using ring = new EventRing({ directory: '/var/lib/example/events' });
 * ring.tell('started', { version: 'v1.0.0' });
 * const { events } = await ring.page();
 * @module
 */
export {
  EventRing,
  type EventPage,
  type EventRingOptions,
  type PageOptions,
} from './event-ring.js';
export { EventRingError, type EventRingErrorCode } from './event-ring-error.js';
export { readEvents, type EventRange } from './read-events.js';
export type { EventFacts, RingEvent } from './ring-event.js';

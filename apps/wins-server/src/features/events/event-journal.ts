import { EventRing, type EventPage, type PageOptions } from '../../kernel/events/event-ring.js';
import { keptDirectory } from '../../kept-directory.js';
import type { Logger } from '../../kernel/log/logger.js';
import type { DaemonEvents } from '../../kernel/daemon-events.js';
import { keptEvent } from './event-facts.js';

export interface EventJournalOptions {
  readonly listen: string;
  readonly prepareDirectory: (directory: string) => void;
  readonly events: DaemonEvents;
  readonly logger: Logger;
}

export function eventsDirectoryOf(listen: string): string {
  return keptDirectory({ what: 'events', listen });
}

/**
 * The daemon's memory of what happened: it listens to its events and keeps them in a ring on disk. No file is touched before the first event, which
 * comes when the daemon has its pipe.
 */
export class EventJournal {
  readonly #ring: EventRing;
  readonly #subscription: Disposable;

  constructor({ listen, prepareDirectory, events, logger }: EventJournalOptions) {
    const directory = eventsDirectoryOf(listen);
    this.#ring = new EventRing({
      ...{ directory, prepareDirectory },
      onChange: (isAvailable, err) => {
        if (isAvailable) logger.debug({ directory }, 'events are kept');
        else logger.warn({ directory, err }, 'events cannot be kept now; the daemon goes on');
      },
    });
    this.#subscription = events.subscribe((event) => {
      const kept = keptEvent(event);
      if (kept === undefined) return;
      this.#ring.tell(kept.type, kept.facts, kept.share);
      if (event.type === 'kept' && event.isUrgent === true) void this.#ring.flush();
    });
  }

  /** @throws FeatureError */
  page(options: PageOptions): Promise<EventPage> {
    return this.#ring.page(options);
  }

  /** Writes what was told; what waits for events is answered. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#subscription[Symbol.dispose]();
    await this.#ring.close();
  }
}

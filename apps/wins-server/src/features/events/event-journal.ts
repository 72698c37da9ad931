import { EventRing, type EventPage, type PageOptions } from '../../kernel/events/event-ring.js';
import { keptDirectory } from '../../kept-directory.js';
import type { Kernel } from '../../kernel/feature.js';
import { keptEvent } from './event-facts.js';

export function eventsDirectoryOf(listen: string): string {
  return keptDirectory({ what: 'events', listen });
}

/** Stores the daemon's events in a ring on disk. No file is touched before the first event, which occurs once the daemon owns its pipe. */
export class EventJournal {
  readonly #ring: EventRing;
  readonly #subscription: Disposable;

  constructor({ config, trust, events, logger }: Kernel) {
    const directory = eventsDirectoryOf(config.start.loaded.config.listen);
    this.#ring = new EventRing({
      directory,
      prepareDirectory: (folder) => trust.ensurePrivateFolder(folder),
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

  /** Writes queued events, and answers waiting calls. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#subscription[Symbol.dispose]();
    await this.#ring.close();
  }
}

import { status } from '@grpc/grpc-js';
import { messageOf } from '@wins/base';
import {
  eventsServiceDefinition,
  type EventsReadRequest,
  type EventsReadResponse,
  type EventsServiceServer,
} from '@wins/wins-api/contract';
import { keptDirectory } from '../../kept-directory.js';
import type { Shares } from '../../kernel/admission/shares.js';
import { EventRing, type EventPage, type PageOptions } from '../../kernel/events/event-ring.js';
import { FeatureError } from '../../kernel/feature-error.js';
import { service, type Feature, type Kernel } from '../../kernel/feature.js';
import { administratorsOnly, type Callers } from '../../kernel/rpc/administrators-only.js';
import type { Caller } from '../../kernel/rpc/connections.js';
import { rpcError, toRpcError } from '../../kernel/rpc/rpc-errors.js';
import { keptEvent } from './event-facts.js';

export function eventsDirectoryOf(listen: string): string {
  return keptDirectory({ what: 'events', listen });
}

/** Touches no file before the first event, which occurs once the daemon owns its pipe. */
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
        else logger.warn({ directory, err }, 'events cannot be kept now; the daemon continues');
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

const LONGEST_WAIT_MS = 30_000;

export interface EventsServiceParts {
  readonly journal: Pick<EventJournal, 'page'>;
  readonly callers: Pick<Callers, 'clientOf' | 'administered'>;
  readonly followers: Shares;
}

type ReadCall = Caller & {
  readonly request: EventsReadRequest;
  once(event: 'cancelled', listener: () => void): unknown;
};

/** Serves only administrators of the host, because events show the actions of all clients. */
export function createEventsService({
  journal,
  callers,
  followers,
}: EventsServiceParts): EventsServiceServer {
  const answer = administratorsOnly(callers, 'show events', failure);
  const read = async (call: ReadCall): Promise<EventsReadResponse> => {
    const { after, since, wait } = call.request;
    const time = since === '' ? undefined : Date.parse(since);
    if (Number.isNaN(time)) {
      const message = 'cannot show events: "Since" is not a time; wanted RFC 3339';
      throw new FeatureError('invalidSince', message);
    }
    const range = { after, ...(time !== undefined && { since: new Date(time) }) };
    if (!wait) return message(await journal.page(range));
    const gone = new AbortController();
    const claim = followers.take(callers.clientOf(call), { end: () => gone.abort() });
    if (claim === undefined) {
      const { total, what } = followers.row;
      const message = `cannot follow events: the limit of ${total} ${what} is reached. Try again later`;
      throw new FeatureError('tooManyFollowers', message);
    }
    call.once('cancelled', () => gone.abort());
    const late = setTimeout(() => gone.abort(), LONGEST_WAIT_MS);
    try {
      return message(await journal.page({ ...range, waitUntil: gone.signal }));
    } finally {
      claim.release();
      clearTimeout(late);
    }
  };
  return { read: (call, respond) => answer(call, respond, () => read(call)) };
}

function message({ lines, next, isPart }: EventPage): EventsReadResponse {
  return { lines: lines.join('\n'), next, more: isPart };
}

function failure(error: unknown): ReturnType<typeof toRpcError> {
  if (error instanceof FeatureError) return toRpcError(error);
  return rpcError(status.FAILED_PRECONDITION, 'eventsUnreadable', messageOf(error));
}

export const events: Feature<object, EventJournal> = {
  name: 'events',
  stage: 'observes',
  purpose: 'keep events',
  settings: () => ({}),
  start: (_settings, kernel) => new EventJournal(kernel),
  services: (view, { resources }) => [
    service(eventsServiceDefinition, 'both', (callers) =>
      createEventsService({
        journal: { page: (options) => view.require().page(options) },
        callers,
        followers: resources.followers,
      }),
    ),
  ],
};

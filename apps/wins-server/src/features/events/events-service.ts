import { status } from '@grpc/grpc-js';
import type { RingEvent } from '../../kernel/events/ring-files.js';
import type {
  EventsReadRequest,
  EventsReadResponse,
  EventsServiceServer,
} from '@wins/wins-api/contract';
import { messageOf } from '@wins/base';
import { FeatureError } from '../../kernel/feature-error.js';
import type { EventJournal } from './event-journal.js';
import type { Shares } from '../../kernel/admission/shares.js';
import type { Caller } from '../../kernel/rpc/connections.js';
import { rpcError, toRpcError } from '../../kernel/rpc/rpc-errors.js';
import { administratorsOnly, type Callers } from '../../kernel/rpc/administrators-only.js';

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

/** Serves wins.EventsService, only for administrators of the host, because it shows the actions of all clients. */
export function createEventsService({
  journal,
  callers,
  followers,
}: EventsServiceParts): EventsServiceServer {
  const answer = administratorsOnly(callers, 'show events', failure);
  const read = async (call: ReadCall): Promise<EventsReadResponse> => {
    const { After: after, Since: since, Wait: wait } = call.request;
    const time = since === '' ? undefined : Date.parse(since);
    if (Number.isNaN(time)) {
      const message = 'cannot show events: "Since" is not a time; wanted RFC 3339';
      throw new FeatureError('invalidSince', message);
    }
    const range = { after: Number(after), ...(time !== undefined && { since: new Date(time) }) };
    if (!wait) return message(await journal.page(range));
    const gone = new AbortController();
    const claim = followers.take(callers.clientOf(call), { end: () => gone.abort() });
    if (claim === undefined) {
      const { total } = followers.row;
      const message = `cannot follow events: ${total} calls already follow them. Try again later`;
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

function message({
  events,
  next,
  isPart,
}: Awaited<ReturnType<EventJournal['page']>>): EventsReadResponse {
  return { Events: events.map(record), Next: BigInt(next), More: isPart };
}

function record({ seq, time, type, ...facts }: RingEvent) {
  return { Seq: BigInt(seq), Time: time, Type: type, Facts: JSON.stringify(facts) };
}

function failure(error: unknown): ReturnType<typeof toRpcError> {
  if (error instanceof FeatureError) return toRpcError(error);
  return rpcError(status.FAILED_PRECONDITION, 'eventsUnreadable', messageOf(error));
}

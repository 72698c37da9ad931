import { messageOf, quoteText } from '@wins/wins-program';
import { EventRingError } from './event-ring-error.js';
import type { RingEvent } from './ring-event.js';
import { readSegment, segmentStarts } from './segment-files.js';

/** Which events of a ring. */
export interface EventRange {
  /** Only those with a larger number. Default 0: from the oldest. */
  readonly after?: number;
  /** Only those of this time or later. Default: of any time. */
  readonly since?: Date;
}

/**
 * The events of a ring, the oldest first; the ring may be written to meanwhile. A folder that is not there has none.
 *
 * @throws EventRingError `unreadable`.
 */
export async function* readEvents(
  directory: string,
  { after = 0, since }: EventRange = {},
): AsyncGenerator<RingEvent> {
  const from = since?.toISOString() ?? '';
  try {
    const starts = await segmentStarts(directory);
    for (const [index, firstSeq] of starts.entries()) {
      const next = starts[index + 1];
      if (next !== undefined && next <= after + 1) continue;
      const { events } = (await readSegment(directory, firstSeq)) ?? { events: [] };
      for (const event of events) if (event.seq > after && event.time >= from) yield event;
    }
  } catch (error) {
    const message = `cannot read the events in ${quoteText(directory)}: found ${messageOf(error)}; wanted a folder that can be read`;
    throw new EventRingError('unreadable', message, error);
  }
}

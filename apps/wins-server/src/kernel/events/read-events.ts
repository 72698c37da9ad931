import { errnoOf, messageOf, quoteText } from '@wins/wins-program';
import { FeatureError } from '../feature-error.js';
import type { RingEvent } from './ring-event.js';
import { eventsOf, ringFiles } from './ring-files.js';

/** Which events of a ring. */
export interface EventRange {
  /** Only those with a larger number. Default 0: from the oldest. */
  readonly after?: number;
  /** Only those of this time or later. Default: of any time. */
  readonly since?: Date;
}

/** Says which events are in a range. */
export function isIn({ after = 0, since }: EventRange): (event: RingEvent) => boolean {
  const from = since?.toISOString() ?? '';
  return ({ seq, time }) => seq > after && time >= from;
}

/**
 * The events of a ring, the oldest first; the ring may be written to meanwhile. A folder that is not there has none.
 *
 * @throws FeatureError `eventsUnreadable`.
 */
export async function* readEvents(
  directory: string,
  range: EventRange = {},
): AsyncGenerator<RingEvent> {
  const { after = 0 } = range;
  const wanted = isIn(range);
  const files = ringFiles(directory);
  try {
    const starts = await files.numbers();
    for (const [index, firstSeq] of starts.entries()) {
      const next = starts[index + 1];
      if (next !== undefined && next <= after + 1) continue;
      for await (const { event } of eventsOf(files, firstSeq)) if (wanted(event)) yield event;
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    const message = `cannot read the events in ${quoteText(directory)}: found ${messageOf(error)}; wanted a folder that can be read`;
    throw new FeatureError('eventsUnreadable', message, { cause: error });
  }
}

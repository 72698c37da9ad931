import { NumberedFiles } from '@wins/files';
import { errnoOf, escapeJson, messageOf, quoteText } from '@wins/base';
import { FeatureError } from '../feature-error.js';

const MAX_LINE_BYTES = 64 * 1024;
const MAX_FACTS = 16;
const MAX_TEXT = 256;
const OWN = new Set(['seq', 'time', 'type']);

/** No value may be long or secret. */
export type EventFacts = Readonly<Record<string, string | number | boolean | undefined>>;

export interface UnnumberedEvent extends EventFacts {
  /** RFC 3339, UTC with milliseconds. */
  readonly time: string;
  readonly type: string;
}

export interface RingEvent extends UnnumberedEvent {
  /** From 1, continued across restarts. */
  readonly seq: number;
}

/** Drops reserved names. Keeps at most 16 facts, and 256 characters of each text. */
export function boundedFacts(facts: EventFacts): EventFacts {
  const kept = Object.entries(facts)
    .filter(([name, value]) => value !== undefined && !OWN.has(name))
    .slice(0, MAX_FACTS)
    .map(([name, value]) => [cut(name), typeof value === 'string' ? cut(value) : value]);
  return Object.fromEntries(kept) as EventFacts;
}

export function encodeEvent(event: RingEvent): string {
  return `${escapeJson(JSON.stringify(event))}\n`;
}

/** The number of a file is that of its first event. */
export function ringFiles(folder: string): NumberedFiles {
  return new NumberedFiles({ folder, prefix: 'events', suffix: 'jsonl', digits: 15 });
}

/** Skips invalid and incomplete lines, and events up to the number `after`. @throws like `NumberedFiles.lines`. */
export async function* eventsOf(files: NumberedFiles, firstSeq: number, after = 0) {
  const lines = files.lines(firstSeq, { maxLineBytes: MAX_LINE_BYTES });
  for await (const { isEnded, text, endBytes } of lines) {
    if (!isEnded || text === undefined) continue;
    // A follower asks for a few events of a long file, and decoding a line takes most of the time.
    if (Number(/^\{"seq":(\d+),/.exec(text)?.[1]) <= after) continue;
    const event = decodeEvent(text);
    if (event !== undefined) yield { event, endBytes };
  }
}

export interface EventRange {
  /** Excludes events up to this number. Default: 0. */
  readonly after?: number;
  /** Excludes events before this time. Default: no limit. */
  readonly since?: Date;
}

export function isIn({ after = 0, since }: EventRange): (event: RingEvent) => boolean {
  const from = since?.toISOString() ?? '';
  return ({ seq, time }) => seq > after && time >= from;
}

/** Yields events, oldest first; none for a missing folder. The daemon may write meanwhile. @throws FeatureError `eventsUnreadable`. */
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
      for await (const { event } of eventsOf(files, firstSeq, after))
        if (wanted(event)) yield event;
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    const message = `cannot read the events in ${quoteText(directory)}: ${messageOf(error)}`;
    throw new FeatureError('eventsUnreadable', message, { cause: error });
  }
}

function decodeEvent(line: string): RingEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { seq, time, type } = value as Partial<RingEvent>;
  if (!Number.isSafeInteger(seq) || typeof time !== 'string' || typeof type !== 'string')
    return undefined;
  return value as RingEvent;
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT);
}

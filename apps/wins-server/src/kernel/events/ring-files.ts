import { NumberedFiles } from '@wins/files';
import { errnoOf, escapeJson, messageOf, quoteText } from '@wins/base';
import { jsonObject } from '../json-object.js';
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

/** Milliseconds since 1970; NaN for an event whose time is damaged. */
export function timeOf({ time }: Pick<RingEvent, 'time'>): number {
  return Date.parse(time);
}

/** Returns a line without its end. */
export function encodeEvent({ seq, time, ...rest }: RingEvent): string {
  // JSON.stringify would put a fact whose name is a number first.
  return `{"seq":${seq},"time":"${time}",${escapeJson(JSON.stringify(rest)).slice(1)}`;
}

/** Skips lines that are no events. */
export function decodeEvents(lines: readonly string[]): readonly RingEvent[] {
  return lines.map(decodeEvent).filter((event) => event !== undefined);
}

/** The number of a file is that of its first event. */
export function ringFiles(folder: string): NumberedFiles {
  return new NumberedFiles({ folder, prefix: 'events', suffix: 'jsonl', digits: 15 });
}

/** An event as its file holds it. */
export interface StoredEvent {
  readonly seq: number;
  readonly time: string;
  /** JSON of the whole event, without a line end. */
  readonly text: string;
  /** Offset in the file after the line end. */
  readonly endBytes: number;
}

/** Reads no more of an event than this, because decoding takes most of the time. Each event begins with its number and time. */
const HEAD = /^\{"seq":(\d{1,15}),"time":"([^"]*)"/;

/** Yields some events at a time. Skips incomplete lines, and those that do not begin like an event. @throws like `NumberedFiles.lines`. */
export async function* eventsOf(
  files: NumberedFiles,
  firstSeq: number,
): AsyncGenerator<readonly StoredEvent[]> {
  for await (const lines of files.lines(firstSeq, { maxLineBytes: MAX_LINE_BYTES })) {
    const events: StoredEvent[] = [];
    for (const { isEnded, text = '', endBytes } of lines) {
      const [head, seq, time = ''] = HEAD.exec(text) ?? [];
      if (isEnded && head !== undefined) events.push({ seq: Number(seq), time, text, endBytes });
    }
    yield events;
  }
}

export interface EventRange {
  /** Excludes events up to this number. Default: 0. */
  readonly after?: number;
  /** Excludes events before this time. Default: no limit. */
  readonly since?: Date;
}

export function isIn({
  after = 0,
  since,
}: EventRange): (event: Pick<RingEvent, 'seq' | 'time'>) => boolean {
  const from = since?.toISOString() ?? '';
  return ({ seq, time }) => seq > after && time >= from;
}

/** Yields events, some at a time, oldest first; none for a missing folder. The daemon may write meanwhile. @throws FeatureError `eventsUnreadable`. */
export async function* readEvents(
  directory: string,
  range: EventRange = {},
): AsyncGenerator<readonly StoredEvent[]> {
  const { after = 0 } = range;
  const wanted = isIn(range);
  const files = ringFiles(directory);
  try {
    const starts = await files.numbers();
    for (const [index, firstSeq] of starts.entries()) {
      const next = starts[index + 1];
      if (next !== undefined && next <= after + 1) continue;
      for await (const events of eventsOf(files, firstSeq)) yield events.filter(wanted);
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    const message = `cannot read the events in ${quoteText(directory)}: ${messageOf(error)}`;
    throw new FeatureError('eventsUnreadable', message, { cause: error });
  }
}

function decodeEvent(line: string): RingEvent | undefined {
  const value: Partial<RingEvent> | undefined = jsonObject(line);
  const { seq, time, type } = value ?? {};
  if (!Number.isSafeInteger(seq) || typeof time !== 'string' || typeof type !== 'string')
    return undefined;
  return value as RingEvent;
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT);
}

import { NumberedFiles, type FileLine } from '@wins/files';
import { decodeEvent, type RingEvent } from './ring-event.js';

/** No event is longer. */
const MAX_LINE_BYTES = 64 * 1024;

/** An event, and where its line ends in its file. */
export interface PlacedEvent {
  readonly event: RingEvent;
  readonly endBytes: number;
}

/** The files of the ring in a folder; the number of each is that of its first event. */
export function ringFiles(folder: string): NumberedFiles {
  return new NumberedFiles({ folder, prefix: 'events', suffix: 'jsonl', digits: 15 });
}

/** Reads the events of a file. What is no event, or has no line end yet, is left out. @throws as `NumberedFiles.lines`. */
export async function* eventsOf(
  files: NumberedFiles,
  firstSeq: number,
): AsyncGenerator<PlacedEvent> {
  for await (const line of files.lines(firstSeq, { maxLineBytes: MAX_LINE_BYTES })) {
    const event = eventOf(line);
    if (event !== undefined) yield { event, endBytes: line.endBytes };
  }
}

function eventOf({ isEnded, text }: FileLine): RingEvent | undefined {
  return isEnded && text !== undefined ? decodeEvent(text) : undefined;
}

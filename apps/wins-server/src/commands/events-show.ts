import { readEvents, type EventFacts, type RingEvent } from '@wins/event-ring';
import { WinsClientError, type WinsClient } from '@wins/wins-api';
import { eventsServiceDefinition, type EventRecord } from '@wins/wins-api/raw';
import { EXIT, messageOf, type CommandSurroundings } from '@wins/wins-program';
import { sinceOption } from '../audit/parse-since.js';
import { DaemonCallError } from '../daemon-call-error.js';
import { eventsDirectoryOf } from '../observe/event-journal.js';
import { EVENT_HEAD, eventRow } from '../observe/event-row.js';
import { askRunningDaemon, pipeOfConfig, type RunningDaemonOptions } from './running-daemon.js';

/** The options of `wins srv events`. */
export interface EventsOptions extends RunningDaemonOptions {
  readonly follow: boolean;
  readonly since?: string | undefined;
  readonly output?: string | undefined;
}

/** Which events are asked for. */
type Range = Readonly<{ since: Date | undefined; follow: boolean }>;

/**
 * `wins srv events`: what happened in the daemon lately, the oldest first; for programs one JSON text per line, or one document of YAML each.
 * When no daemon answers, the files on the disk are read.
 */
export async function showEvents(
  options: EventsOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const range = { since: sinceOption(options.since), follow: options.follow };
  if (options.output === 'table') process.stdout.write(`${EVENT_HEAD}\n`);
  const absent = (error: unknown): void =>
    void process.stderr.write(`wins: ${messageOf(error)}\nwins: found events on the disk\n`);
  for await (const event of eventsOf(options, range, absent)) {
    const text = `${eventRow(event)}\n`;
    if (!(await show({ value: event, text, names: [String(event.seq)], isOneOfMany: true }))) break;
  }
  return EXIT.server.ok;
}

/**
 * The events of the daemon, or of the disk when there is none.
 *
 * @param absent - Told why they are those of the disk.
 */
export async function* eventsOf(
  options: RunningDaemonOptions,
  range: Range,
  absent: (error: unknown) => void = () => undefined,
): AsyncGenerator<RingEvent> {
  let after = 0n;
  try {
    for (;;) {
      const page = await askPage(options, range, after);
      yield* page.Events.map(eventOf);
      after = page.Next;
      if (!page.More && !range.follow) return;
    }
  } catch (error) {
    if (!isAbsent(error) || range.follow || after > 0n) throw error;
    absent(error);
  }
  const directory = eventsDirectoryOf(options.server ?? (await pipeOfConfig(options.config)));
  yield* readEvents(directory, range.since && { since: range.since });
}

function askPage(options: RunningDaemonOptions, { since, follow }: Range, After: bigint) {
  const request = { After, Since: since?.toISOString() ?? '', Wait: follow };
  const ask = (client: WinsClient, signal: AbortSignal) =>
    client.call(eventsServiceDefinition.read, request, { signal });
  const question = { asker: 'wins srv events', takesItsTime: follow, answered };
  return askRunningDaemon(options, ask, question);
}

function eventOf({ Seq, Time: time, Type: type, Facts }: EventRecord): RingEvent {
  const facts = JSON.parse(Facts === '' ? '{}' : Facts) as EventFacts;
  return { seq: Number(Seq), time, type, ...facts };
}

/** What the daemon itself says: that it cannot read its events, or that too many follow them. */
function answered(error: WinsClientError): DaemonCallError | undefined {
  if (error.reason === undefined || error.code === 'refused') return undefined;
  return new DaemonCallError(error.details, EXIT.server.unavailable, { cause: error });
}

/** Whether there is no daemon that could tell. */
function isAbsent(error: unknown): boolean {
  return (
    error instanceof DaemonCallError &&
    error.cause instanceof WinsClientError &&
    error.cause.code === 'unavailable' &&
    !error.cause.connectionLost
  );
}

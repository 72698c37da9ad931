import { FeatureError } from '../../kernel/feature-error.js';
import { decodeEvents, readEvents, type RingEvent } from '../../kernel/events/ring-files.js';
import { WinsClientError } from '@wins/wins-api';
import { eventsServiceDefinition } from '@wins/wins-api/contract';
import {
  EXIT,
  messageOf,
  withGivenOptions,
  type Answer,
  type CommandSurroundings,
} from '@wins/base';
import { DaemonCallError } from '../../client/daemon-call-error.js';
import { eventsDirectoryOf } from './feature.js';
import { factHead, factRow } from '../../kernel/log/fact-row.js';
import { RecordFilter, type FilterOptions } from '../../kernel/log/record-filter.js';
import {
  callRunningDaemon,
  pipeOfConfig,
  type RunningDaemonOptions,
} from '../../client/running-daemon.js';
import { safeLines } from '../../client/safe-lines.js';

const WIDTHS = [24, 7, 16];

export interface EventsOptions extends RunningDaemonOptions, FilterOptions {
  readonly follow: boolean;
  readonly output?: string | undefined;
}

interface Range {
  readonly since: Date | undefined;
  /** Waits for further events. */
  readonly follow: boolean;
  /** Excludes events up to this number. Default: 0. */
  readonly after?: number;
  /** Whether the disk is read if no daemon answers. Default: true, unless it follows. */
  readonly mayReadDisk?: boolean;
}

/** `wins srv events`: prints events, from the files if no daemon answers. */
export async function showEvents(options: EventsOptions, { show }: CommandSurroundings) {
  const filter = new RecordFilter(options);
  if (options.output === 'table' || options.output === 'wide')
    process.stdout.write(`${factHead(WIDTHS, ['TIME', 'SEQ', 'EVENT'])}\n`);
  for await (const events of chosenEvents(options, filter))
    if (!(await show(...events.map(answerOf)))) break;
  return EXIT.server.ok;
}

function answerOf(event: RingEvent): Answer {
  const { seq, time, type, ...facts } = event;
  const text = `${factRow(WIDTHS, [time, String(seq), type], facts)}\n`;
  return { value: event, text, names: [String(seq)], isOneOfMany: true };
}

/** With `lines`, yields that many of the present events before it follows. */
async function* chosenEvents(
  options: EventsOptions,
  filter: RecordFilter,
): AsyncGenerator<readonly RingEvent[]> {
  const { since, lines } = filter;
  const { follow } = options;
  const fromDisk = (why: string): void =>
    void process.stderr.write(safeLines(withGivenOptions(`wins: ${why}`, options).split('\n')));
  let after = 0;
  if (lines !== undefined || !follow) {
    const range = { since, follow: false, mayReadDisk: !follow };
    const seen = eventsOf(options, range, fromDisk, (seq) => (after = seq));
    yield* filter.choose(seen);
  }
  if (!follow) return;
  for await (const events of eventsOf(options, { since, follow, after }))
    yield events.filter((event) => filter.accepts(event));
}

/**
 * Yields events, some at a time, oldest first.
 *
 * @param fromDisk - Receives the reason for reading the disk. Called before the first event from the disk, or at the end if the disk has none.
 * @param seen - Receives the number of the newest event that a daemon has answered with.
 * @throws DaemonCallError
 */
export async function* eventsOf(
  options: RunningDaemonOptions,
  range: Range,
  fromDisk: (why: string) => void = () => undefined,
  seen: (seq: number) => void = () => undefined,
): AsyncGenerator<readonly RingEvent[]> {
  const { after: first = 0, mayReadDisk = !range.follow } = range;
  let after = first;
  let failure: DaemonCallError;
  try {
    let page = askPage(options, range, after);
    for (;;) {
      const { lines, next, more } = await page;
      after = next;
      seen(after);
      // The daemon reads the next page while the caller uses this one.
      const following = more ? askPage(options, range, after) : undefined;
      following?.catch(() => undefined);
      yield decodeEvents(lines.split('\n'));
      if (following === undefined && !range.follow) return;
      page = following ?? askPage(options, range, after);
    }
  } catch (error) {
    if (!leavesDisk(error) || !mayReadDisk || after > first) throw error;
    failure = error;
  }
  const server = options.server ?? (await pipeOfConfig(options.config));
  let count = 0;
  try {
    for await (const events of eventsOnDisk(server, range.since)) {
      if (count === 0 && events.length > 0)
        fromDisk(`${messageOf(failure)}\nwins: showing the events on the disk`);
      count += events.length;
      yield events;
    }
  } catch (error) {
    // When the files are unreadable too, the daemon's refusal explains more.
    throw error instanceof FeatureError && isRefused(failure) ? failure : error;
  }
  if (count > 0) return;
  if (isRefused(failure)) throw failure;
  fromDisk(`${messageOf(failure)}\nwins: there are no matching events on the disk, either`);
}

/** Reads the events that a daemon wrote, without asking it. */
export async function* eventsOnDisk(server: string, since: Date | undefined) {
  for await (const stored of readEvents(eventsDirectoryOf(server), since && { since }))
    yield decodeEvents(stored.map(({ text }) => text));
}

function askPage(options: RunningDaemonOptions, { since, follow }: Range, after: number) {
  const request = { after, since: since?.toISOString() ?? '', wait: follow };
  return callRunningDaemon(options, eventsServiceDefinition.read, request, {
    asker: 'wins srv events',
    // Any other error means that the daemon cannot read its events, or that too many clients follow them.
    exitCode: (code) => (code === 'refused' ? undefined : EXIT.server.unavailable),
    ...(follow && { timeoutMs: Infinity }),
  });
}

/** Returns true if the events can only be read from the disk, because no daemon answered or the daemon refused this user. */
function leavesDisk(error: unknown): error is DaemonCallError {
  if (!(error instanceof DaemonCallError) || !(error.cause instanceof WinsClientError))
    return false;
  const { code, isConnectionLost } = error.cause;
  return (code === 'unavailable' && !isConnectionLost) || code === 'refused';
}

function isRefused({ cause }: DaemonCallError): boolean {
  return cause instanceof WinsClientError && cause.code === 'refused';
}

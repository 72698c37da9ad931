import { FeatureError } from '../../kernel/feature-error.js';
import { readEvents, type EventFacts, type RingEvent } from '../../kernel/events/ring-files.js';
import { WinsClientError } from '@wins/wins-api';
import { eventsServiceDefinition, type EventRecord } from '@wins/wins-api/contract';
import { EXIT, messageOf, timeOption, type CommandSurroundings } from '@wins/base';
import { DaemonCallError } from '../../client/daemon-call-error.js';
import { eventsDirectoryOf } from './feature.js';
import { factHead, factRow } from '../../kernel/log/fact-row.js';
import {
  callRunningDaemon,
  pipeOfConfig,
  type RunningDaemonOptions,
} from '../../client/running-daemon.js';

const WIDTHS = [24, 7, 16];

export interface EventsOptions extends RunningDaemonOptions {
  readonly follow: boolean;
  readonly since?: string | undefined;
  readonly output?: string | undefined;
}

type Range = Readonly<{ since: Date | undefined; follow: boolean }>;

/** `wins srv events`: prints events, from the files if no daemon answers. */
export async function showEvents(options: EventsOptions, { show }: CommandSurroundings) {
  const range = { since: timeOption('since', options.since), follow: options.follow };
  if (options.output === 'table')
    process.stdout.write(`${factHead(WIDTHS, ['TIME', 'SEQ', 'EVENT'])}\n`);
  const fromDisk = (why: string): void => void process.stderr.write(`wins: ${why}\n`);
  for await (const event of eventsOf(options, range, fromDisk)) {
    const { seq, time, type, ...facts } = event;
    const text = `${factRow(WIDTHS, [time, String(seq), type], facts)}\n`;
    if (!(await show({ value: event, text, names: [String(event.seq)], isOneOfMany: true }))) break;
  }
  return EXIT.server.ok;
}

/**
 * @param fromDisk - Receives the reason for reading the disk. Called before the first event from the disk, or at the end if the disk has none.
 * @throws DaemonCallError
 */
export async function* eventsOf(
  options: RunningDaemonOptions,
  range: Range,
  fromDisk: (why: string) => void = () => undefined,
): AsyncGenerator<RingEvent> {
  let after = 0;
  let failure: DaemonCallError;
  try {
    for (;;) {
      const page = await askPage(options, range, after);
      yield* page.events.map(eventOf);
      after = page.next;
      if (!page.more && !range.follow) return;
    }
  } catch (error) {
    if (!leavesDisk(error) || range.follow || after > 0) throw error;
    failure = error;
  }
  const server = options.server ?? (await pipeOfConfig(options.config));
  let count = 0;
  try {
    for await (const event of eventsOnDisk(server, range.since)) {
      if (count === 0) fromDisk(`${messageOf(failure)}\nwins: showing the events on the disk`);
      count += 1;
      yield event;
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
export function eventsOnDisk(server: string, since: Date | undefined): AsyncIterable<RingEvent> {
  return readEvents(eventsDirectoryOf(server), since && { since });
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

function eventOf({ facts, ...event }: EventRecord): RingEvent {
  return { ...event, ...(JSON.parse(facts === '' ? '{}' : facts) as EventFacts) };
}

/** Returns true if the events can only be read from the disk, because no daemon answered or the daemon refused this user. */
function leavesDisk(error: unknown): error is DaemonCallError {
  if (!(error instanceof DaemonCallError) || !(error.cause instanceof WinsClientError))
    return false;
  const { code, connectionLost } = error.cause;
  return (code === 'unavailable' && !connectionLost) || code === 'refused';
}

function isRefused({ cause }: DaemonCallError): boolean {
  return cause instanceof WinsClientError && cause.code === 'refused';
}

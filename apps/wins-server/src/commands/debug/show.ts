import {
  debugServiceDefinition,
  type DebugClient,
  type DebugLogLevelResponse,
} from '@wins/wins-api/contract';
import { EXIT, type CommandSurroundings } from '@wins/wins-program';
import { askForDiagnosis, requireEnd, type SecondsOptions } from './ask-about-debug.js';
import { lines } from '../plan/plan-text.js';
import type { RunningDaemonOptions } from '../running-daemon.js';

/** The options of `wins srv debug log-level`. */
export interface LogLevelOptions extends RunningDaemonOptions {
  readonly level: string | undefined;
  /** In milliseconds. */
  readonly for: number;
}

const MOST_TEXT_BYTES = 16 * 1024 * 1024;

/** `wins srv debug stacks`: where the daemon's thread is. */
export async function showStacks(
  options: SecondsOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const request = { Seconds: options.seconds };
  const text = await wholeText(options, (client, signal) =>
    client.stream(debugServiceDefinition.stacks, request, { signal }),
  );
  // The daemon has escaped what it repeats, but for its line feeds.
  await show({ value: { Stacks: text }, text: lines(text.trimEnd().split('\n')) });
  return EXIT.server.ok;
}

/** `wins srv debug report`: the report of the runtime. */
export async function showReport(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const text = await wholeText(options, (client, signal) =>
    client.stream(debugServiceDefinition.report, {}, { signal }),
  );
  const value: unknown = JSON.parse(text);
  await show({ value, text: lines(JSON.stringify(value, undefined, 2).split('\n')) });
  return EXIT.server.ok;
}

/** `wins srv debug handles`: what keeps the daemon alive. */
export async function showHandles(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const { Handles: handles } = await askForDiagnosis(options, (client, signal) =>
    client.call(debugServiceDefinition.handles, {}, { signal }),
  );
  const rows = handles.map(({ Kind, Count }) => [Kind, String(Count)]);
  await show({ value: handles, table: { headings: ['KIND', 'COUNT'], rows } });
  return EXIT.server.ok;
}

/** `wins srv debug connections`: who is connected. */
export async function showConnections(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const { Connections: open } = await askForDiagnosis(options, (client, signal) =>
    client.call(debugServiceDefinition.connections, {}, { signal }),
  );
  const rows = open.map(({ Name, Client, OpenedAt, Calls, ReceivedBytes, SentBytes }) => [
    ...[Name, ...clientCells(Client), OpenedAt, String(Calls)],
    ...[String(ReceivedBytes), String(SentBytes)],
  ]);
  const headings = ['NAME', ...CLIENT, 'OPENED', 'CALLS', 'RECEIVED', 'SENT'];
  const value = open.map((each) => ({
    ...each,
    ...{ ReceivedBytes: Number(each.ReceivedBytes), SentBytes: Number(each.SentBytes) },
  }));
  await show({ value, table: { headings, rows }, names: open.map(({ Name }) => Name) });
  return EXIT.server.ok;
}

/** `wins srv debug runs`: what runs, whoever started it. */
export async function showRuns(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const { Runs: runs } = await askForDiagnosis(options, (client, signal) =>
    client.call(debugServiceDefinition.runs, {}, { signal }),
  );
  const rows = runs.map(({ Name, State, PID, StartedAt, Owner, Path }) => [
    ...[Name, State, String(PID), StartedAt, Owner, Path],
  ]);
  const headings = ['NAME', 'STATE', 'PID', 'STARTED', 'OWNER', 'PATH'];
  await show({ value: runs, table: { headings, rows }, names: runs.map(({ Name }) => Name) });
  return EXIT.server.ok;
}

/** `wins srv debug streams`: the sessions of the tunnel, and how many streams each has. */
export async function showStreams(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const { Sessions: sessions } = await askForDiagnosis(options, (client, signal) =>
    client.call(debugServiceDefinition.streams, {}, { signal }),
  );
  const rows = sessions.map((session) => {
    const { Name, Client, OpenedAt, Streams, ReceivedBytes, SentBytes, Pauses } = session;
    const counts = [Streams, ReceivedBytes, SentBytes, Pauses].map(String);
    return [Name, ...clientCells(Client), OpenedAt, ...counts];
  });
  const headings = ['NAME', ...CLIENT, 'OPENED', 'STREAMS', 'RECEIVED', 'SENT', 'PAUSES'];
  const value = sessions.map((each) => ({
    ...each,
    ...{ ReceivedBytes: Number(each.ReceivedBytes), SentBytes: Number(each.SentBytes) },
    Pauses: Number(each.Pauses),
  }));
  await show({ value, table: { headings, rows }, names: sessions.map(({ Name }) => Name) });
  return EXIT.server.ok;
}

/** `wins srv debug log-level`: how much is logged, or another level for some time. */
export async function changeLogLevel(
  options: LogLevelOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const isAsked = options.level === undefined;
  const Seconds = isAsked ? 0 : Math.ceil(options.for / 1000);
  const answer = await askForDiagnosis(options, (client, signal) =>
    client.call(
      debugServiceDefinition.logLevel,
      { Level: options.level ?? '', Seconds },
      { signal },
    ),
  );
  await show({ value: answer, text: levelText(answer), names: [answer.Level] });
  return EXIT.server.ok;
}

const CLIENT = ['PID', 'ACCOUNT', 'CONTAINER'];

function clientCells(client: DebugClient | undefined): string[] {
  const { PID = 0, Account = '', Container = '' } = client ?? {};
  return [PID === 0 ? '' : String(PID), Account, Container.slice(0, 12)];
}

function levelText({ Level, Until }: DebugLogLevelResponse): string {
  return lines([Until === '' ? `the level is ${Level}` : `the level is ${Level} until ${Until}`]);
}

async function wholeText(
  options: RunningDaemonOptions,
  ask: (
    client: Parameters<Parameters<typeof askForDiagnosis>[1]>[0],
    signal: AbortSignal,
  ) => AsyncIterable<{ readonly Data: Buffer }>,
): Promise<string> {
  const parts: Buffer[] = [];
  await askForDiagnosis(
    options,
    async (client, signal) => {
      let sizeBytes = 0;
      for await (const { Data } of ask(client, signal)) {
        sizeBytes += Data.length;
        requireEnd(sizeBytes, MOST_TEXT_BYTES);
        parts.push(Buffer.from(Data));
      }
    },
    { timeoutMs: Infinity },
  );
  return Buffer.concat(parts).toString();
}

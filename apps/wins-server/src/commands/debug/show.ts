import type { MethodDefinition } from '@grpc/grpc-js';
import {
  camelCaseKeys,
  debugServiceDefinition,
  type DebugConnection,
  type DebugPiece,
} from '@wins/wins-api/contract';
import type { Answer } from '@wins/base';
import { callRunningDaemon, type RunningDaemonOptions } from '../running-daemon.js';
import { safeLines } from '../safe-lines.js';
import { DIAGNOSIS, receive, type SecondsOptions } from './receive.js';

export interface LogLevelOptions extends RunningDaemonOptions {
  readonly level: string | undefined;
  /** Duration in milliseconds. */
  readonly for: number;
}

const MOST_TEXT_BYTES = 16 * 1024 * 1024;

export async function showStacks(options: SecondsOptions): Promise<Answer> {
  const request = { Seconds: options.seconds };
  const text = await wholeText(options, debugServiceDefinition.stacks, request);
  // The daemon has escaped everything except line feeds.
  return { value: { stacks: text }, text: safeLines(text.trimEnd().split('\n')) };
}

export async function showReport(options: RunningDaemonOptions): Promise<Answer> {
  const value: unknown = JSON.parse(await wholeText(options, debugServiceDefinition.report, {}));
  return { value, text: safeLines(JSON.stringify(value, undefined, 2).split('\n')) };
}

export const showHandles = listing(debugServiceDefinition.handles, ({ Handles }) => Handles, {
  KIND: ({ Kind }) => Kind,
  COUNT: ({ Count }) => Count,
});

const CLIENT = {
  PID: ({ Client }: OfClient) => (Client?.PID ?? 0) || '',
  ACCOUNT: ({ Client }: OfClient) => Client?.Account ?? '',
  CONTAINER: ({ Client }: OfClient) => Client?.Container.slice(0, 12) ?? '',
};

export const showConnections = listing(
  debugServiceDefinition.connections,
  (all) => all.Connections,
  {
    NAME: ({ Name }) => Name,
    ...CLIENT,
    OPENED: ({ OpenedAt }) => OpenedAt,
    CALLS: ({ Calls }) => Calls,
    RECEIVED: ({ ReceivedBytes }) => ReceivedBytes,
    SENT: ({ SentBytes }) => SentBytes,
  },
);

export const showRuns = listing(debugServiceDefinition.runs, ({ Runs }) => Runs, {
  NAME: ({ Name }) => Name,
  STATE: ({ State }) => State,
  PID: ({ PID }) => PID,
  STARTED: ({ StartedAt }) => StartedAt,
  OWNER: ({ Owner }) => Owner,
  PATH: ({ Path }) => Path,
});

export const showStreams = listing(debugServiceDefinition.streams, ({ Sessions }) => Sessions, {
  NAME: ({ Name }) => Name,
  ...CLIENT,
  OPENED: ({ OpenedAt }) => OpenedAt,
  STREAMS: ({ Streams }) => Streams,
  RECEIVED: ({ ReceivedBytes }) => ReceivedBytes,
  SENT: ({ SentBytes }) => SentBytes,
  PAUSES: ({ Pauses }) => Pauses,
});

export async function changeLogLevel({
  level,
  for: forMs,
  ...options
}: LogLevelOptions): Promise<Answer> {
  const seconds = level === undefined ? 0 : Math.ceil(forMs / 1000);
  const request = { Level: level ?? '', Seconds: seconds };
  const { logLevel } = debugServiceDefinition;
  const answer = await callRunningDaemon(options, logLevel, request, DIAGNOSIS);
  const { Level, Until } = answer;
  const until = Until === '' ? '' : ` until ${Until}`;
  return {
    value: camelCaseKeys(answer),
    text: safeLines([`the level is ${Level}${until}`]),
    names: [Level],
  };
}

type OfClient = Pick<DebugConnection, 'Client'>;

function listing<Listed, Row extends object>(
  method: MethodDefinition<object, Listed>,
  rowsOf: (listed: Listed) => readonly Row[],
  columns: Readonly<Record<string, (row: NoInfer<Row>) => string | number | bigint>>,
): (options: RunningDaemonOptions) => Promise<Answer> {
  return async (options) => {
    const answered = rowsOf(await callRunningDaemon(options, method, {}, DIAGNOSIS));
    const rows = answered.map((row) => Object.values(columns).map((cellOf) => String(cellOf(row))));
    return {
      value: camelCaseKeys(answered),
      table: { headings: Object.keys(columns), rows },
      names: answered.flatMap((row) => columns['NAME']?.(row).toString() ?? []),
    };
  };
}

async function wholeText<Request>(
  options: RunningDaemonOptions,
  method: MethodDefinition<Request, DebugPiece>,
  request: NoInfer<Request>,
): Promise<string> {
  const parts: Buffer[] = [];
  const take = (piece: Buffer): void => void parts.push(Buffer.from(piece));
  await receive(options, method, request, { mostBytes: MOST_TEXT_BYTES, take });
  return Buffer.concat(parts).toString();
}

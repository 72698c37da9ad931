import type { MethodDefinition } from '@grpc/grpc-js';
import { EXIT, quoteText, type Answer } from '@wins/base';
import { writeNewPrivateFile } from '@wins/trusted-files';
import {
  camelCaseKeys,
  debugServiceDefinition,
  type DebugConnection,
  type DebugPiece,
} from '@wins/wins-api/contract';
import path from 'node:path';
import { DaemonCallError } from '../../client/daemon-call-error.js';
import { listenForShutdown } from '../../kernel/shutdown-signal.js';
import { thisSystem } from '../../this-system.js';
import {
  askRunningDaemon,
  callRunningDaemon,
  type Question,
  type RunningDaemonOptions,
} from '../../client/running-daemon.js';
import { safeLines } from '../../client/safe-lines.js';

export interface SecondsOptions extends RunningDaemonOptions {
  readonly seconds: number;
}

/** The command exits with 64 after an invalid request, and with 70 if the daemon cannot answer. */
export const DIAGNOSIS: Question = {
  asker: 'wins srv debug',
  pipe: 'admin',
  exitCode: (code) => {
    if (code === 'refused') return undefined;
    return code === 'invalidRequest' ? EXIT.server.usage : EXIT.server.internal;
  },
};

export interface Receiver {
  /** Maximum size of the answer in bytes; a larger one is an error. */
  readonly mostBytes: number;
  readonly take: (piece: Buffer, position: number) => Promise<void> | void;
  readonly signal?: AbortSignal;
}

/** Resolves with the size of the answer. @throws DaemonCallError with exit code 70 when it is too large. */
export async function receive<Request>(
  options: RunningDaemonOptions,
  method: MethodDefinition<Request, DebugPiece>,
  request: NoInfer<Request>,
  { mostBytes, take, signal: ended = new AbortController().signal }: Receiver,
): Promise<number> {
  let sizeBytes = 0;
  const question = { ...DIAGNOSIS, timeoutMs: Infinity, signal: ended };
  await askRunningDaemon(
    options,
    async (client, signal) => {
      for await (const { Data } of client.stream(method, request, { signal })) {
        const position = sizeBytes;
        sizeBytes += Data.length;
        if (sizeBytes > mostBytes) {
          const message = `cannot use the answer of the daemon: it exceeds ${mostBytes} bytes`;
          throw new DaemonCallError(message, EXIT.server.internal);
        }
        await take(Data, position);
      }
    },
    question,
  );
  return sizeBytes;
}

export interface LogLevelOptions extends RunningDaemonOptions {
  readonly level: string | undefined;
  /** In milliseconds. */
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

export interface FileAnswerOptions extends RunningDaemonOptions {
  readonly file: string;
}

/** Far larger than any answer from a daemon. */
const LARGEST_FILE_BYTES = 2 ** 31;

export function writeHeap(options: FileAnswerOptions) {
  return writeAnswer(debugServiceDefinition.heap, {}, options);
}

export function writeCpu(options: SecondsOptions & FileAnswerOptions) {
  return writeAnswer(debugServiceDefinition.cpu, { Seconds: options.seconds }, options);
}

export function writeTrace(options: SecondsOptions & FileAnswerOptions) {
  return writeAnswer(debugServiceDefinition.trace, { Seconds: options.seconds }, options);
}

/** Leaves no file behind when interrupted. */
async function writeAnswer<Request>(
  method: MethodDefinition<Request, DebugPiece>,
  request: NoInfer<Request>,
  options: FileAnswerOptions,
): Promise<Answer> {
  const file = path.resolve(options.file);
  const { createPrivateFile: create } = await thisSystem();
  using interruption = listenForShutdown();
  const interrupted = new AbortController();
  void interruption.requested.then(() => interrupted.abort());
  const { signal } = interrupted;
  let sizeBytes = 0;
  try {
    await writeNewPrivateFile(
      file,
      async (take) => {
        const receiver = { mostBytes: LARGEST_FILE_BYTES, take, signal };
        sizeBytes = await receive(options, method, request, receiver);
      },
      { create },
    );
  } catch (error) {
    if (!signal.aborted) throw error;
    const message = `cannot write ${quoteText(file)}: interrupted before the whole answer arrived. Nothing was written`;
    throw new DaemonCallError(message, EXIT.server.internal, { cause: error });
  }
  const text = `${quoteText(file)}: ${sizeBytes} bytes\n`;
  return { value: { file, bytes: sizeBytes }, text, names: [file] };
}

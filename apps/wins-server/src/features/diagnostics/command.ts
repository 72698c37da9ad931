import { EXIT, quoteText, type Answer } from '@wins/base';
import { writeNewPrivateFile } from '@wins/trusted-files';
import {
  configServiceDefinition,
  debugServiceDefinition,
  type DebugRecordRequest,
} from '@wins/wins-api/contract';
import path from 'node:path';
import { DaemonCallError } from '../../client/daemon-call-error.js';
import { readFacts } from '../../client/feature-facts.js';
import { listenForShutdown } from '../../kernel/shutdown-signal.js';
import { factsIn } from '../../kernel/told-facts.js';
import { thisSystem } from '../../this-system.js';
import type { ConnectionFacts, DiagnosticsFacts } from './diagnostics-facts.js';
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
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with the size of the answer. @throws DaemonCallError with exit code 70 when it is too large. */
export async function receive(
  options: RunningDaemonOptions,
  request: DebugRecordRequest,
  { mostBytes, take, signal: ended }: Receiver,
): Promise<number> {
  const { record } = debugServiceDefinition;
  let sizeBytes = 0;
  const question = { ...DIAGNOSIS, timeoutMs: Infinity, signal: ended };
  await askRunningDaemon(
    options,
    async (client, signal) => {
      for await (const { data } of client.stream(record, request, { signal })) {
        const position = sizeBytes;
        sizeBytes += data.length;
        if (sizeBytes > mostBytes) {
          const message = `cannot use the answer of the daemon: it exceeds ${mostBytes} bytes`;
          throw new DaemonCallError(message, EXIT.server.internal);
        }
        await take(data, position);
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

const FEATURE = 'diagnostics';
const MOST_TEXT_BYTES = 16 * 1024 * 1024;

export async function showStacks(options: SecondsOptions): Promise<Answer> {
  const text = await wholeText(options, { kind: 'stacks', seconds: options.seconds });
  // The daemon has escaped everything except line feeds.
  const lines = text.trimEnd().split('\n');
  const table = { headings: ['STACKS'], rows: lines.map((line) => [line]) };
  return { value: { stacks: text }, text: safeLines(lines), table };
}

export async function showReport(options: RunningDaemonOptions): Promise<Answer> {
  const value: unknown = JSON.parse(await wholeText(options, { kind: 'report', seconds: 0 }));
  return { value, text: safeLines(JSON.stringify(value, undefined, 2).split('\n')) };
}

export const showHandles = listing('handles', {
  KIND: ({ kind }) => kind,
  COUNT: ({ count }) => count,
});

const CLIENT = {
  PID: ({ client }: OfClient) => client.pid ?? '',
  ACCOUNT: ({ client }: OfClient) => client.account ?? '',
  CONTAINER: ({ client }: OfClient) => client.container?.slice(0, 12) ?? '',
};

export const showConnections = listing('connections', {
  NAME: ({ name }) => name,
  ...CLIENT,
  OPENED: ({ openedAt }) => openedAt,
  CALLS: ({ calls }) => calls,
  RECEIVED: ({ receivedBytes }) => receivedBytes,
  SENT: ({ sentBytes }) => sentBytes,
});

export const showRuns = listing('runs', {
  NAME: ({ name }) => name,
  STATE: ({ state }) => state,
  PID: ({ pid }) => pid,
  STARTED: ({ startedAt }) => startedAt,
  OWNER: ({ owner }) => owner,
  PATH: ({ path }) => path,
});

export const showStreams = listing('streams', {
  NAME: ({ name }) => name,
  ...CLIENT,
  OPENED: ({ openedAt }) => openedAt,
  STREAMS: ({ streams }) => streams,
  RECEIVED: ({ receivedBytes }) => receivedBytes,
  SENT: ({ sentBytes }) => sentBytes,
  PAUSES: ({ pauses }) => pauses,
});

export async function changeLogLevel({
  level,
  for: forMs,
  ...options
}: LogLevelOptions): Promise<Answer> {
  const seconds = level === undefined ? 0 : Math.ceil(forMs / 1000);
  const request = { level: level ?? '', seconds };
  const { logLevel } = configServiceDefinition;
  const answer = await callRunningDaemon(options, logLevel, request, DIAGNOSIS);
  const until = answer.until === '' ? '' : ` until ${answer.until}`;
  return {
    value: answer,
    text: safeLines([`the level is ${answer.level}${until}`]),
    names: [answer.level],
  };
}

type OfClient = Pick<ConnectionFacts, 'client'>;

function listing<Name extends keyof DiagnosticsFacts>(
  name: Name,
  columns: Readonly<Record<string, (row: DiagnosticsFacts[Name][number]) => string | number>>,
): (options: RunningDaemonOptions) => Promise<Answer> {
  return async (options) => {
    const facts = factsIn<DiagnosticsFacts>(
      await readFacts(options, [FEATURE], DIAGNOSIS),
      FEATURE,
    );
    if (!facts.on)
      throw new DaemonCallError(
        `cannot diagnose the daemon: ${facts.reason}`,
        EXIT.server.unavailable,
      );
    const listed: readonly DiagnosticsFacts[Name][number][] = facts[name];
    const rows = listed.map((row) => Object.values(columns).map((cellOf) => String(cellOf(row))));
    return {
      value: listed,
      table: { headings: Object.keys(columns), rows },
      // The first column identifies the row.
      names: rows.flatMap(([name]) => name ?? []),
    };
  };
}

async function wholeText(
  options: RunningDaemonOptions,
  request: DebugRecordRequest,
): Promise<string> {
  const parts: Buffer[] = [];
  const take = (piece: Buffer): void => void parts.push(Buffer.from(piece));
  await receive(options, request, { mostBytes: MOST_TEXT_BYTES, take });
  return Buffer.concat(parts).toString();
}

export interface FileAnswerOptions extends RunningDaemonOptions {
  readonly file: string;
}

/** Far larger than any answer from a daemon. */
const LARGEST_FILE_BYTES = 2 ** 31;

export function writeHeap(options: FileAnswerOptions) {
  return writeAnswer({ kind: 'heap', seconds: 0 }, options);
}

export function writeCpu(options: SecondsOptions & FileAnswerOptions) {
  return writeAnswer({ kind: 'cpu', seconds: options.seconds }, options);
}

export function writeTrace(options: SecondsOptions & FileAnswerOptions) {
  return writeAnswer({ kind: 'trace', seconds: options.seconds }, options);
}

/** Leaves no file behind when interrupted. */
async function writeAnswer(
  request: DebugRecordRequest,
  options: FileAnswerOptions,
): Promise<Answer> {
  const file = path.resolve(options.file);
  const { createPrivateFile: create } = thisSystem();
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
        sizeBytes = await receive(options, request, receiver);
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

import { status, type ServerWritableStream } from '@grpc/grpc-js';
import { quoteText, type ClientDescription } from '@wins/base';
import type { ManagedProcess } from '@wins/process-manager';
import type {
  DebugClient,
  DebugConnection,
  DebugPiece,
  DebugRun,
  DebugServiceServer,
  DebugSession,
} from '@wins/wins-api/contract';
import { once } from 'node:events';
import type { AuditTrail } from '../../kernel/audit/audit-trail.js';
import { FeatureError, isFeatureError } from '../../kernel/feature-error.js';
import { SET_LEVELS, type LogLevel } from '../../kernel/log/logger.js';
import {
  administratorsOnly,
  goneSignal,
  recordAction,
  refusalOf,
  type AnswerAdministrators,
  type Callers,
} from '../../kernel/rpc/administrators-only.js';
import type { OpenConnection } from '../../kernel/rpc/connections.js';
import { rpcError, toRpcError } from '../../kernel/rpc/rpc-errors.js';
import type { OpenSession } from '../tunnel/tunnel-endpoint.js';
import type { Diagnostics } from './diagnostics.js';

export interface DebugSources {
  /** @throws FeatureError while the config turns diagnostics off, which may change at any time. */
  readonly requireOn: () => void;
  readonly audit: Pick<AuditTrail, 'decided'>;
  readonly level: Pick<LogLevel, 'now' | 'set' | 'reset'>;
  readonly connections: () => readonly OpenConnection[];
  readonly sessions: () => readonly OpenSession[];
  readonly runs: () => readonly ManagedProcess[];
}

/** Verb phrase for "cannot …" in refusals. */
export const WHAT = 'diagnose the daemon';
const MOST_ROWS = 1024;
const LONGEST_LEVEL_SECONDS = 86_400;

type Call = ServerWritableStream<unknown, DebugPiece>;
type Make = (
  diagnostics: Diagnostics,
  gone: AbortSignal,
) => AsyncIterable<Buffer> | Iterable<Buffer>;

/** Checks each client even on the administrators' pipe, because a process may hand its connection to a container or to another user. */
export function createDebugService(
  callers: Pick<Callers, 'clientOf'>,
  { requireOn, audit, level, connections, sessions, runs }: DebugSources,
): DebugServiceServer {
  let loaded: Promise<Diagnostics> | undefined;
  const diagnostics = (): Promise<Diagnostics> =>
    (loaded ??= import('./diagnostics.js').then((parts) => new parts.Diagnostics()));

  const administered = administratorsOnly(callers, WHAT, debugError);
  const answer: AnswerAdministrators = (call, respond, make) =>
    administered(call, respond, () => {
      requireOn();
      return make();
    });
  /** Sends chunks as fast as the client reads them, then ends the call; an aborted call stops the source. */
  const sendPieces = async (call: Call, make: Make, action?: 'debugHeap'): Promise<void> => {
    const refusal = refusalOf(callers, call, WHAT);
    if (refusal !== undefined) {
      call.emit('error', refusal);
      return;
    }
    requireOn();
    if (action !== undefined) await recordAction(call, { callers, audit }, { action });
    const parts = await diagnostics();
    const gone = goneSignal(call);
    if (call.cancelled) return;
    try {
      for await (const Data of make(parts, gone)) {
        gone.throwIfAborted();
        if (!call.write({ Data })) await once(call, 'drain', { signal: gone });
      }
    } catch (error) {
      if (gone.aborted) return;
      throw error;
    }
    call.end();
  };
  const send = (call: Call, make: Make, action?: 'debugHeap'): void =>
    void sendPieces(call, make, action).catch((error: unknown) =>
      call.emit('error', debugError(error)),
    );
  return {
    stacks: (call) =>
      send(call, async function* (parts, signal) {
        const { Seconds: seconds } = call.request;
        yield Buffer.from(await parts.stacks({ seconds, signal }));
      }),
    report: (call) => send(call, (parts) => [Buffer.from(parts.report())]),
    heap: (call) => send(call, (parts) => parts.heap(), 'debugHeap'),
    cpu: (call) =>
      send(call, (parts, signal) => parts.cpu({ seconds: call.request.Seconds, signal })),
    trace: (call) =>
      send(call, (parts, signal) => parts.trace({ seconds: call.request.Seconds, signal })),
    handles: (call, respond) =>
      answer(call, respond, async () => ({
        Handles: (await diagnostics())
          .handles()
          .map(({ kind, count }) => ({ Kind: kind, Count: count })),
      })),
    logLevel: (call, respond) =>
      answer(call, respond, async () => {
        const { Level: wanted, Seconds: seconds } = call.request;
        if (wanted !== '') {
          requireLevel(wanted, seconds);
          const decision = { action: 'debugLogLevel', name: wanted } as const;
          await recordAction(call, { callers, audit }, decision);
        }
        const named = SET_LEVELS.find((name) => name === wanted);
        if (named !== undefined) level.set(named, seconds * 1000);
        else if (wanted !== '') level.reset();
        const { level: Level, until } = level.now;
        return { Level, Until: until?.toISOString() ?? '' };
      }),
    connections: (call, respond) =>
      answer(call, respond, () => ({
        Connections: connections().slice(0, MOST_ROWS).map(connectionMessage),
      })),
    runs: (call, respond) =>
      answer(call, respond, () => ({ Runs: runs().slice(0, MOST_ROWS).map(runMessage) })),
    streams: (call, respond) =>
      answer(call, respond, () => ({
        Sessions: sessions().slice(0, MOST_ROWS).map(sessionMessage),
      })),
  };
}

function requireLevel(wanted: string, seconds: number): void {
  const names: readonly string[] = [...SET_LEVELS, 'default'];
  const refused = (found: string, range: string): FeatureError =>
    new FeatureError('invalidArgument', `cannot change the log: found ${found}; wanted ${range}`);
  if (!names.includes(wanted))
    throw refused(`the level ${quoteText(wanted)}`, `one of ${names.join(', ')}`);
  if (wanted !== 'default' && !(seconds > 0 && seconds <= LONGEST_LEVEL_SECONDS))
    throw refused(`${seconds} s`, `more than 0 and at most ${LONGEST_LEVEL_SECONDS} s`);
}

/** Here `unavailable` reports a failure or a missing feature of Node.js, not a fault of the host, so it becomes FAILED_PRECONDITION. */
function debugError(error: unknown): ReturnType<typeof toRpcError> {
  return isFeatureError(error) && error.code === 'unavailable'
    ? rpcError(status.FAILED_PRECONDITION, error.code, error.message)
    : toRpcError(error);
}

function connectionMessage(connection: OpenConnection): DebugConnection {
  const { name, client, openedAt, calls, receivedBytes, sentBytes } = connection;
  return {
    ...{ Name: name, Client: clientMessage(client), OpenedAt: openedAt.toISOString() },
    ...{ Calls: calls, ReceivedBytes: BigInt(receivedBytes), SentBytes: BigInt(sentBytes) },
  };
}

function sessionMessage({ name, client, openedAt, streams, traffic }: OpenSession): DebugSession {
  const { receivedBytes, sentBytes, pauses } = traffic;
  return {
    ...{ Name: name, Client: clientMessage(client), OpenedAt: openedAt.toISOString() },
    ...{ Streams: streams, ReceivedBytes: BigInt(receivedBytes), SentBytes: BigInt(sentBytes) },
    Pauses: BigInt(pauses),
  };
}

/** Omits the id, arguments and variables of the run. */
function runMessage(run: ManagedProcess): DebugRun {
  const { name, mark, path, pid, state, startedAtMs, owner } = run;
  return {
    ...{ Name: name, Mark: mark, Path: path, PID: pid, State: state.kind },
    ...{ StartedAt: new Date(startedAtMs).toISOString(), Owner: owner.id },
  };
}

function clientMessage({ pid, uid, account, container }: ClientDescription): DebugClient {
  const Account = account ?? (uid === undefined ? '' : String(uid));
  return { PID: pid ?? 0, Account, Container: container ?? '' };
}

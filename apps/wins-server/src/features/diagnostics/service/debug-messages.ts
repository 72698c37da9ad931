import type { ClientDescription } from '@wins/wins-program';
import type { ManagedProcess } from '@wins/process-manager';
import type {
  DebugClient,
  DebugConnection,
  DebugLogLevelResponse,
  DebugRun,
  DebugSession,
} from '@wins/wins-api/contract';
import type { LevelNow } from '../../../kernel/log/log-level.js';
import type { OpenConnection } from '../../../kernel/rpc/connections.js';
import type { OpenSession } from '../../tunnel/tunnel-endpoint.js';

/** A connection as it is told. Pure, as all here. */
export function connectionMessage(connection: OpenConnection): DebugConnection {
  const { name, client, openedAt, calls, receivedBytes, sentBytes } = connection;
  return {
    ...{ Name: name, Client: clientMessage(client), OpenedAt: openedAt.toISOString() },
    ...{ Calls: calls, ReceivedBytes: BigInt(receivedBytes), SentBytes: BigInt(sentBytes) },
  };
}

export function sessionMessage({
  name,
  client,
  openedAt,
  streams,
  traffic,
}: OpenSession): DebugSession {
  const { receivedBytes, sentBytes, pauses } = traffic;
  return {
    ...{ Name: name, Client: clientMessage(client), OpenedAt: openedAt.toISOString() },
    ...{ Streams: streams, ReceivedBytes: BigInt(receivedBytes), SentBytes: BigInt(sentBytes) },
    Pauses: BigInt(pauses),
  };
}

/** A run as it is told: not its id, arguments or variables. */
export function runMessage(run: ManagedProcess): DebugRun {
  const { name, mark, path, pid, state, startedAtMs, owner } = run;
  return {
    ...{ Name: name, Mark: mark, Path: path, PID: pid, State: state.kind },
    ...{ StartedAt: new Date(startedAtMs).toISOString(), Owner: owner.id },
  };
}

export function levelMessage({ level, until }: LevelNow): DebugLogLevelResponse {
  return { Level: level, Until: until?.toISOString() ?? '' };
}

function clientMessage({ pid, uid, account, container }: ClientDescription): DebugClient {
  const Account = account ?? (uid === undefined ? '' : String(uid));
  return { PID: pid ?? 0, Account, Container: container ?? '' };
}

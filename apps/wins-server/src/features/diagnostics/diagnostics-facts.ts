import type { ManagedProcess } from '@wins/process-manager';
import type { OpenConnection } from '../../kernel/rpc/connections.js';
import type { OpenSession } from '../tunnel/tunnel-endpoint.js';
import { activeHandles, type ActiveHandles } from './active-handles.js';

/** Each list has at most 1,024 entries, the oldest first. */
export interface DiagnosticsFacts {
  readonly handles: readonly ActiveHandles[];
  /** Open connections of the main pipe. */
  readonly connections: readonly ConnectionFacts[];
  /** Runs of all clients. */
  readonly runs: readonly RunFacts[];
  /** Sessions of the tunnel. */
  readonly streams: readonly SessionFacts[];
}

export interface ConnectionFacts extends Omit<OpenConnection, 'client' | 'openedAt'> {
  readonly client: ClientFacts;
  /** RFC 3339. */
  readonly openedAt: string;
}

/** A client as the system identifies it. */
export interface ClientFacts {
  readonly pid?: number | undefined;
  /** User id or SID. */
  readonly account?: string | undefined;
  readonly container?: string | undefined;
}

export interface RunFacts extends Pick<ManagedProcess, 'name' | 'mark' | 'path' | 'pid'> {
  readonly state: ManagedProcess['state']['kind'];
  /** RFC 3339. */
  readonly startedAt: string;
  /** Connection that started the run. */
  readonly owner: string;
}

export interface SessionFacts extends Omit<ConnectionFacts, 'calls'> {
  readonly streams: number;
  readonly pauses: number;
}

const MOST_ROWS = 1024;

export function diagnosticsFacts(
  connections: readonly OpenConnection[],
  runs: readonly ManagedProcess[],
  sessions: readonly OpenSession[],
): DiagnosticsFacts {
  return {
    handles: activeHandles(),
    connections: connections.slice(0, MOST_ROWS).map(ofClient),
    runs: runs.slice(0, MOST_ROWS).map(runFacts),
    streams: sessions.slice(0, MOST_ROWS).map(({ traffic, ...one }) => {
      const { receivedBytes, sentBytes, pauses } = traffic;
      return { ...ofClient(one), receivedBytes, sentBytes, pauses };
    }),
  };
}

/** Omits the id, which gives access to the output, and the arguments and variables of the run. */
function runFacts(run: ManagedProcess): RunFacts {
  // A copy of the rest of the run would lack its state, which is a getter of a class.
  const { name, mark, path, pid, state, owner } = run;
  const startedAt = new Date(run.startedAtMs).toISOString();
  return { name, mark, path, pid, state: state.kind, startedAt, owner: owner.id };
}

function ofClient<One extends Pick<OpenConnection, 'client' | 'openedAt'>>({
  client: { pid, uid, account, container },
  openedAt,
  ...one
}: One) {
  const client: ClientFacts = { pid, account: account ?? uid?.toString(), container };
  return { ...one, client, openedAt: openedAt.toISOString() };
}

/**
 * The table of resources: the only place where a limit of the daemon stands that clients can come to. Each is shared by
 * `Shares`, the processor by `ClientTurns`.
 */
import type { Rate } from '@wins/time';

/** One resource that clients share. */
export interface ResourceRow {
  /** For people: in the log and in the docs. */
  readonly what: string;
  readonly total: number;
  /** Part of the total that administrators alone may use. */
  readonly reserve: number;
  /** Least share of a client, however many there are. */
  readonly floor: number;
  /**
   * At the limit the client that holds most yields: what it does not use, the oldest first; else its largest, the newest first.
   * Or who comes waits for its turn. Or it is refused, where nothing can be taken back.
   */
  readonly atLimit: 'yields' | 'waits' | 'refused';
}

export type ResourceName =
  | ResourceOfPipe
  | `admin${Capitalize<ResourceOfPipe>}`
  | 'tunnels'
  | 'tunnelHandshakes'
  | 'calls'
  | 'waits'
  | 'watches'
  | 'reflections'
  | 'followers'
  | 'hostCalls'
  | 'streams'
  | 'dials'
  | 'runs'
  | 'fileBytes'
  | 'spools'
  | 'relayed'
  | 'relayedFlows';

type ResourceOfPipe = 'connections' | 'handshakes' | 'requestOctets' | 'answerOctets';

const MIB = 1024 * 1024;

/** Row of what can be taken back. */
function yields(what: string, total: number, reserve: number, floor = 1): ResourceRow {
  return { what, total, reserve, floor, atLimit: 'yields' };
}

/** Row of what cannot be taken back. */
function refused(what: string, total: number, floor = 1): ResourceRow {
  return { what, total, reserve: 0, floor, atLimit: 'refused' };
}

/**
 * The table for a daemon that may have so many descriptors open. What takes descriptors takes three quarters of them together, so
 * that a daemon never lacks one for an administrator, its log or a file.
 *
 * @param tunnels - Sessions of the tunnel, as the config has it.
 */
export function resourceTable(
  descriptors: number,
  tunnels = 16,
): Readonly<Record<ResourceName, ResourceRow>> {
  const part = (most: number, divisor: number): number =>
    Math.max(2, Math.min(most, Math.floor(descriptors / divisor)));
  return {
    connections: yields('connections of the gRPC pipe', part(1024, 4), part(16, 128), 4),
    handshakes: yields('connections of the gRPC pipe that have not greeted', part(2048, 16), 1),
    requestOctets: yields('bytes of requests that are not complete or not taken', 24 * MIB, MIB),
    answerOctets: yields('bytes of answers that wait for their readers', 64 * MIB, 4 * MIB),
    adminConnections: yields('connections of the pipe of administrators', 8, 0),
    adminHandshakes: yields('connections of that pipe that have not greeted', 8, 0),
    adminRequestOctets: yields('bytes of requests on that pipe', MIB, 0),
    adminAnswerOctets: yields('bytes of answers on that pipe', 40 * MIB, 0),
    tunnels: yields('sessions of the tunnel', tunnels, tunnels < 2 ? 0 : 1),
    tunnelHandshakes: yields('connections of the tunnel without a session', part(64, 32), 1),
    streams: {
      ...{ what: 'streams of all tunnels', total: part(16_384, 4), reserve: part(64, 128) },
      ...{ floor: 4, atLimit: 'yields' },
    },
    // A connection has two sockets. Sources are addresses of the network: what they hold is never taken back for another one.
    relayed: refused('connections to published ports', part(2048, 128)),
    relayedFlows: refused('UDP flows of published ports', part(2048, 64)),
    dials: { what: 'dials of all tunnels', total: 64, reserve: 4, floor: 1, atLimit: 'waits' },
    calls: yields('calls under way', 1024, 64, 16),
    waits: yields('calls that follow the output of a run', 512, 16, 8),
    watches: yields('calls that watch health', 64, 4, 2),
    reflections: yields('calls of reflection', 16, 1),
    followers: yields('calls that follow events', 8, 0),
    hostCalls: { what: 'calls about the host', total: 32, reserve: 4, floor: 1, atLimit: 'waits' },
    runs: yields('runs that start or live', part(256, 32), part(16, 256), 2),
    fileBytes: {
      ...{ what: 'bytes of files that clients give to runs', total: 32 * MIB },
      ...{ reserve: 4 * MIB, floor: MIB, atLimit: 'refused' },
    },
    spools: {
      ...refused('bytes on the disk for the output of runs that last', 1024 * MIB, 64 * MIB),
      reserve: 128 * MIB,
    },
  };
}

/** How the time of the daemon's one thread is shared: by what is used, in turns. */
export interface ProcessorRow {
  /** Time that a client may use in its turn while others wait, in milliseconds. */
  readonly quantumMs: number;
  /** The most octets that one read gives: while others wait, and alone. */
  readonly readOctets: { readonly shared: number; readonly alone: number };
  /** Milliseconds of one client while others are served; beyond it the log names the client. */
  readonly busy: Rate;
  /** Requests of one client, and Connects of its tunnels, while others are served; beyond it, its input waits. */
  readonly requests: Rate;
  /** Connections of one client that are set up; others wait, as long as they have a place. */
  readonly connects: Rate;
  /** Connections that are accepted between two turns. */
  readonly acceptsPerTurn: number;
}

/**
 * A scrape is one request and a rollout a few hundred; a client that follows runs has two for each.
 */
export const PROCESSOR: ProcessorRow = {
  quantumMs: 1,
  readOctets: { shared: 16 * 1024, alone: 64 * 1024 },
  busy: { burst: 1000, perSecond: 500 },
  requests: { burst: 2000, perSecond: 500 },
  connects: { burst: 128, perSecond: 32 },
  acceptsPerTurn: 32,
};

/** All resources that clients can exhaust. `Shares` divides them among the clients. */
import type { Rate } from '@wins/time';

export interface ResourceRow {
  /** Description for people, in the log and in the docs. */
  readonly what: string;
  readonly total: number;
  /** Part of the total for administrators only. */
  readonly reserve: number;
  /** Minimum share of a client, however many clients there are. */
  readonly floor: number;
  /**
   * `yields`: the largest holder loses claims, idle claims first. `waits`: claims are queued. `refused`: the largest holder loses idle claims
   * only; if there are none, new claims fail. There a client may hold at most half of what the others leave, so that something remains for a newcomer.
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
  | 'searches'
  | 'streams'
  | 'dials'
  | 'runs'
  | 'fileBytes'
  | 'relayed'
  | 'relayedFlows'
  | 'relayedSockets';

type ResourceOfPipe = 'connections' | 'handshakes' | 'requestOctets' | 'answerOctets';

const MIB = 1024 * 1024;

function yields(what: string, total: number, reserve: number, floor = 1): ResourceRow {
  return { what, total, reserve, floor, atLimit: 'yields' };
}

function refused(what: string, total: number, floor = 1): ResourceRow {
  return { what, total, reserve: 0, floor, atLimit: 'refused' };
}

/** Clients get three quarters of the `descriptors`; administrators, the log and files get the rest. */
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
    adminHandshakes: yields(
      'connections of the pipe of administrators that have not greeted',
      8,
      0,
    ),
    adminRequestOctets: yields('bytes of requests on the pipe of administrators', MIB, 0),
    adminAnswerOctets: yields('bytes of answers on the pipe of administrators', 40 * MIB, 0),
    tunnels: yields('sessions of the tunnel', tunnels, tunnels < 2 ? 0 : 1),
    tunnelHandshakes: yields('connections of the tunnel without a session', part(64, 32), 1),
    streams: {
      what: 'streams of all tunnels',
      total: part(16_384, 4),
      reserve: part(64, 128),
      floor: 4,
      atLimit: 'yields',
    },
    // A relayed connection needs two sockets. Its source address stands for the client.
    relayed: refused('connections to published ports', part(2048, 128)),
    relayedFlows: refused('UDP flows of published ports', part(2048, 64)),
    // A port on all addresses has a socket for each address. At the limit, the addresses of a port share one.
    relayedSockets: refused('sockets on which published UDP ports listen', part(8192, 8)),
    dials: { what: 'dials of all tunnels', total: 64, reserve: 4, floor: 1, atLimit: 'waits' },
    calls: yields('calls under way', 1024, 64, 16),
    waits: yields('calls that follow the output of a run', 512, 16, 8),
    watches: yields('calls that watch health', 64, 4, 2),
    reflections: yields('calls of reflection', 16, 1),
    followers: yields('calls that follow events or a run on the pipe of administrators', 6, 0),
    hostCalls: { what: 'calls about the host', total: 32, reserve: 4, floor: 1, atLimit: 'waits' },
    searches: {
      what: 'searches of the output of runs',
      total: 4,
      reserve: 1,
      floor: 1,
      atLimit: 'waits',
    },
    runs: yields('runs that start or live', part(256, 32), part(16, 256), 2),
    fileBytes: {
      what: 'bytes of files that clients give to runs',
      total: 32 * MIB,
      reserve: 4 * MIB,
      floor: MIB,
      atLimit: 'refused',
    },
  };
}

export interface ProcessorRow {
  /** Length of a client's turn while others wait. */
  readonly quantumMs: number;
  /** Maximum octets of one read: `shared` applies while other clients wait, `alone` while none does. */
  readonly readOctets: { readonly shared: number; readonly alone: number };
  /** Processor milliseconds that one client may use while others are served; above this rate, the log names the client. */
  readonly busy: Rate;
  /** Maximum rate of one client's requests and tunnel Connects while other clients are served. Above this rate, the client's input waits. */
  readonly requests: Rate;
  /** Connection set-ups of one client. Further connections wait, but count as open. */
  readonly connects: Rate;
  readonly acceptsPerTurn: number;
}

/** For scale: a metrics scrape sends one request, a client that follows a run sends two, and a rollout sends a few hundred. */
export const PROCESSOR: ProcessorRow = {
  quantumMs: 1,
  readOctets: { shared: 16 * 1024, alone: 64 * 1024 },
  busy: { burst: 1000, perSecond: 500 },
  requests: { burst: 2000, perSecond: 500 },
  connects: { burst: 128, perSecond: 32 },
  acceptsPerTurn: 32,
};

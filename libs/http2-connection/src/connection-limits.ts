import type { Rate } from '@wins/time';

/** Limits of one connection: sizes in octets, times in milliseconds. The default of a rate lists the burst, then the refill. */
export interface Http2Limits {
  /** Maximum size of a request message, without its five-octet gRPC prefix. Default 1 MiB. */
  readonly messageOctets: number;
  /**
   * Maximum memory for open calls, each counted as 2 KiB plus its headers, and for incomplete or unread messages. Default 2 MiB.
   */
  readonly unfinishedOctets: number;
  /**
   * Maximum output waiting for a client that does not read, in addition to `freeOctetsPerStream` for each stream.
   * Default 4 MiB.
   */
  readonly waitingOctets: number;
  /**
   * Part of each stream's output that does not count towards `waitingOctets`, because a slow client with many streams is not
   * hostile. Default 128 KiB.
   */
  readonly freeOctetsPerStream: number;
  /** Maximum data waiting in the socket: headers, refusals, and replies to PING and SETTINGS. Default 512 KiB. */
  readonly socketOctets: number;
  /** Maximum number of simultaneous streams; excess streams are refused. Default 256. */
  readonly streams: number;
  /** Maximum size of a header block on the wire, and of its headers as RFC 9113 counts them. Default 16 KiB each. */
  readonly headerOctets: number;
  /** Default 64. */
  readonly headerFields: number;
  /** Default 8. */
  readonly continuations: number;
  /** A message may have this many DATA frames, plus one for each 256 octets. Default 64. */
  readonly framesPerMessage: number;
  /** Time-out for preface and SETTINGS. Default 5 s. */
  readonly handshakeMs: number;
  /** Time-out for the acknowledgement of our SETTINGS. Default 10 s. */
  readonly settingsAckMs: number;
  /** Time-out for the whole request after its HEADERS, or for each message if a call may have several. Default 10 s. */
  readonly requestMs: number;
  /** Interval between pings. Default 60 s. */
  readonly pingIntervalMs: number;
  /** Time-out for the answer to a ping. Default 20 s. */
  readonly pingTimeoutMs: number;
  /** Maximum time without a call. Default 10 min. */
  readonly idleMs: number;
  /** Time for sending the last frames to a client before its socket is destroyed. Default 500 ms. */
  readonly lingerMs: number;
  /** Streams reset by the client, or by us because of a client error. Default 1,000; 50 per second. */
  readonly resets: Rate;
  /**
   * Pings. Each DATA frame that we send allows one more, because clients measure the round-trip time by pings. Default
   * 256; 50 per second.
   */
  readonly pings: Rate;
  /** SETTINGS frames. Default 32; 5 per second. */
  readonly settings: Rate;
  /** WINDOW_UPDATE frames; each DATA frame that we send allows four more. Default 1,024; 500 per second. */
  readonly windowUpdates: Rate;
  /**
   * PRIORITY and GOAWAY frames, frames of unknown types, late frames for ended streams, and refused streams. Default: a burst of
   * 1,024, then 200 per second.
   */
  readonly ignoredFrames: Rate;
  /** Octets of header blocks. Default: a burst of 1 MiB, then 512 KiB per second. */
  readonly headerBlockOctets: Rate;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const DEFAULT_LIMITS: Http2Limits = {
  messageOctets: MIB,
  unfinishedOctets: 2 * MIB,
  waitingOctets: 4 * MIB,
  freeOctetsPerStream: 128 * KIB,
  socketOctets: 512 * KIB,
  streams: 256,
  headerOctets: 16 * KIB,
  headerFields: 64,
  continuations: 8,
  framesPerMessage: 64,
  handshakeMs: 5000,
  settingsAckMs: 10_000,
  requestMs: 10_000,
  pingIntervalMs: 60_000,
  pingTimeoutMs: 20_000,
  idleMs: 600_000,
  lingerMs: 500,
  resets: { burst: 1000, perSecond: 50 },
  pings: { burst: 256, perSecond: 50 },
  settings: { burst: 32, perSecond: 5 },
  windowUpdates: { burst: 1024, perSecond: 500 },
  ignoredFrames: { burst: 1024, perSecond: 200 },
  headerBlockOctets: { burst: MIB, perSecond: 512 * KIB },
};

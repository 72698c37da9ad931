/** Times of one connection, in milliseconds. Programs keep the defaults; specs shorten them. */
export interface Http2Limits {
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
}

export const DEFAULT_LIMITS: Http2Limits = {
  handshakeMs: 5000,
  settingsAckMs: 10_000,
  requestMs: 10_000,
  pingIntervalMs: 60_000,
  pingTimeoutMs: 20_000,
  idleMs: 600_000,
  lingerMs: 500,
};

const KIB = 1024;
const MIB = 1024 * KIB;

/** Sizes and rates of one connection. A rate has a burst and a refill. */
export const LIMITS = {
  /** Maximum size of a request message, without its five-octet gRPC prefix. */
  messageOctets: MIB,
  /** Maximum memory for open calls, each counted as 2 KiB plus its headers, and for incomplete or unread messages. */
  unfinishedOctets: 2 * MIB,
  /** Maximum output waiting for a client that does not read, in addition to `freeOctetsPerStream` for each stream. */
  waitingOctets: 4 * MIB,
  /** Part of each stream's output that does not count towards `waitingOctets`, because a slow client with many streams is not hostile. */
  freeOctetsPerStream: 128 * KIB,
  /** Maximum data waiting in the socket: headers, refusals, and replies to PING and SETTINGS. */
  socketOctets: 512 * KIB,
  /** Maximum number of simultaneous streams; excess streams are refused. */
  streams: 256,
  /** Maximum size of a header block on the wire, and of its headers as RFC 9113 counts them. */
  headerOctets: 16 * KIB,
  headerFields: 64,
  continuations: 8,
  /** A message may have this many DATA frames, plus one for each 256 octets. */
  framesPerMessage: 64,
  /** Streams reset by the client, or by us because of a client error. */
  resets: { burst: 1000, perSecond: 50 },
  /** Pings. Each DATA frame that we send allows one more, because clients measure the round-trip time by pings. */
  pings: { burst: 256, perSecond: 50 },
  /** SETTINGS frames. */
  settings: { burst: 32, perSecond: 5 },
  /** WINDOW_UPDATE frames; each DATA frame that we send allows four more. */
  windowUpdates: { burst: 1024, perSecond: 500 },
  /** PRIORITY and GOAWAY frames, frames of unknown types, late frames for ended streams, and refused streams. */
  ignoredFrames: { burst: 1024, perSecond: 200 },
  /** Octets of header blocks. */
  headerBlockOctets: { burst: MIB, perSecond: 512 * KIB },
};

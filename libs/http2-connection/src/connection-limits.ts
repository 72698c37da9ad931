import type { Rate } from '@wins/time';

/** Bounds on one connection. Octets, milliseconds and numbers; a rate is what is allowed at once and per second. */
export interface Http2Limits {
  /** The longest message of a request, without its five octets of gRPC. Default 1 MiB. */
  readonly messageOctets: number;
  /** Headers of calls that live, 2 KiB more for each, and messages that are not whole or not taken yet. Default 2 MiB. */
  readonly unfinishedOctets: number;
  /** Octets that may wait for a client that does not read, beyond `freeOctetsPerStream` for each stream. Default 4 MiB. */
  readonly waitingOctets: number;
  /** One message of each stream may wait uncounted: who follows a hundred outputs and reads none is slow, not hostile. Default 128 KiB. */
  readonly freeOctetsPerStream: number;
  /** Answers to pings and settings, headers and refusals that wait in the socket. Default 512 KiB. */
  readonly socketOctets: number;
  /** Streams at a time; more are refused. Default 256. */
  readonly streams: number;
  /** A header block as it comes, and its headers as RFC 9113 counts them. Default 16 KiB each. */
  readonly headerOctets: number;
  /** Default 64. */
  readonly headerFields: number;
  /** Default 8. */
  readonly continuations: number;
  /** DATA frames of a message, beyond one for each 256 octets. Default 64. */
  readonly framesPerMessage: number;
  /** Preface and SETTINGS. Default 5 s. */
  readonly handshakeMs: number;
  /** Until our SETTINGS are acknowledged. Default 10 s. */
  readonly settingsAckMs: number;
  /** From HEADERS to the whole request of a call with one, else for each message. Default 10 s. */
  readonly requestMs: number;
  /** Between pings. Default 60 s. */
  readonly pingIntervalMs: number;
  /** For the answer to a ping. Default 20 s. */
  readonly pingTimeoutMs: number;
  /** Without a call. Default 10 min. */
  readonly idleMs: number;
  /** For the last words to a client, before its socket is destroyed. Default 500 ms. */
  readonly lingerMs: number;
  /** Streams that the client resets, or makes us reset by a fault. Default 1,000; 50 per second. */
  readonly resets: Rate;
  /** One more for each DATA frame of ours: clients measure the way by pings. Default 256; 50 per second. */
  readonly pings: Rate;
  /** Default 32; 5 per second. */
  readonly settings: Rate;
  /** Four more for each DATA frame of ours. Default 1,024; 500 per second. */
  readonly windowUpdates: Rate;
  /** PRIORITY, unknown frames, frames of streams that we have ended, refused streams. Default 1,024; 200 per second. */
  readonly ignoredFrames: Rate;
  /** Octets of header blocks. Default 1 MiB; 512 KiB per second. */
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

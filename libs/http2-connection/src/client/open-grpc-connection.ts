import type { Duplex } from 'node:stream';
import { ClientConnection, type GrpcRequest } from './client-connection.js';
import type { GrpcOutcome } from './grpc-call.js';

/** How {@link openGrpcConnection} speaks. */
export interface GrpcConnectionOptions {
  /** The longest message of an answer, without its five octets of gRPC; a call with a longer one fails with status 8. Default 2 MiB. */
  readonly messageOctets?: number;
  /** What the server may send of an answer before it has to wait for us, in octets: 65,535 to 2^31 - 1. Default 1 MiB. */
  readonly windowOctets?: number;
}

/** A connection to a gRPC server, for calls with one message each way. */
export interface GrpcConnection extends AsyncDisposable {
  /** Resolves once the server has spoken HTTP/2, with nothing; or with the reason why it never will. Has no time limit of its own. */
  readonly ready: Promise<string | undefined>;
  /** Whether the server has spoken HTTP/2 and takes calls. */
  readonly isReady: boolean;
  /** Whether calls may be made. Once it does not, it never will again. */
  readonly isOpen: boolean;
  /** Resolves once the socket is gone. */
  readonly closed: Promise<void>;
  /**
   * Makes a call; it goes out once the server has spoken, or at once if it is repeatable. `done` is told once how it ended, at the earliest before this returns.
   * Has no time limit of its own.
   *
   * @returns What cancels the call, which is `lost` then. Without effect on one that has ended.
   */
  call(request: GrpcRequest, done: (outcome: GrpcOutcome) => void): () => void;
  /**
   * Cancels all calls, and resolves with `closed`: once that has gone out, and after `graceMs` (default 500) at the latest. Without calls
   * there is nothing that a server of such calls would learn from a GOAWAY, and the socket is destroyed at once. Idempotent.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

const MIB = 1024 * 1024;
/** More DATA frames than this, beyond one for each 256 octets, is no message that somebody meant to send. */
const FRAMES_PER_MESSAGE = 64;

/**
 * Speaks HTTP/2 to a gRPC server on a socket, which belongs to the connection from now on. Never throws for what a server sends, and
 * holds no more of it than its limits: a header block of 64 KiB, and one message for each call.
 */
export function openGrpcConnection(
  socket: Duplex,
  options: GrpcConnectionOptions = {},
): GrpcConnection {
  const { messageOctets = 2 * MIB, windowOctets = MIB } = options;
  const limits = { messageOctets, framesPerMessage: FRAMES_PER_MESSAGE };
  const connection = new ClientConnection(socket, { limits, windowOctets });
  const close = ({ graceMs }: { readonly graceMs?: number } = {}): Promise<void> => {
    connection.end('closed', graceMs);
    return connection.closed;
  };
  return {
    ready: connection.ready,
    closed: connection.closed,
    get isReady() {
      return connection.isOpen && connection.isGreeted;
    },
    get isOpen() {
      return connection.isOpen;
    },
    call: (request, done) => connection.call(request, done),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

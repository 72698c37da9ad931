import { PROTOCOL_LIMITS } from '../wire/limits.js';

/** Options for the constructors of `ws`: message limits and no compression. */
export interface TunnelWebSocketOptions {
  readonly perMessageDeflate: false;
  /** Maximum bytes of a message; a longer one ends the connection with code 1009. */
  readonly maxPayload: number;
  /** Maximum number of frames in a message. A message with more frames ends the connection with code 1008. */
  readonly maxFragments: number;
  /** Maximum number of pongs that wait for the peer to read. If more wait, the connection ends. */
  readonly maxPendingAutoPongs: number;
  /** Present only for a client with `localEndpoint`. */
  readonly generateMask?: ((mask: Buffer) => void) | undefined;
}

/** A peer that splits at 4 KiB needs 257 frames for the longest message. */
const MOST_FRAGMENTS = 1024;
/**
 * While a remotedialer client waits for a slow reader, it reads nothing, but pings every 5 s, so our pongs wait. A limit of
 * 4096 pongs permits this for 5.7 h. The default of `ws`, 60, would permit only 5 minutes. A pong takes less than 1 KiB.
 */
const MOST_PENDING_PONGS = 4096;

/** Options for `new WebSocketServer({ noServer: true, ...webSocketServerOptions() })`. */
export function webSocketServerOptions(): TunnelWebSocketOptions {
  return {
    perMessageDeflate: false,
    maxPayload: PROTOCOL_LIMITS.messageBytes,
    maxFragments: MOST_FRAGMENTS,
    maxPendingAutoPongs: MOST_PENDING_PONGS,
  };
}

/**
 * Options for `new WebSocket(url, webSocketClientOptions(…))`. With `localEndpoint` (default false) frames carry a mask
 * of zeros, which is several times faster. Use it on a pipe or a Unix socket only: on a network the random mask
 * protects intermediaries.
 */
export function webSocketClientOptions(
  options: { readonly localEndpoint?: boolean | undefined } = {},
): TunnelWebSocketOptions {
  const shared = webSocketServerOptions();
  return options.localEndpoint === true
    ? { ...shared, generateMask: (mask) => mask.fill(0) }
    : shared;
}

/** The members of a `ws` WebSocket that a tunnel uses. With this interface, users of this library do not need the types of `ws`. */
export interface TunnelWebSocket {
  /** 1 while it is open. */
  readonly readyState: number;
  /** Bytes accepted by `send` and not yet sent. */
  readonly bufferedAmount: number;
  /** Set to `nodebuffer`, so that a message is one Buffer. */
  binaryType: 'nodebuffer' | 'arraybuffer' | 'fragments';
  on(event: 'message', listener: (data: unknown, isBinary: boolean) => void): unknown;
  on(event: 'ping' | 'pong', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  once(event: 'close', listener: (code: number, reason: Buffer) => void): unknown;
  send(
    data: Buffer,
    options: { readonly binary: true; readonly compress: false },
    sent: (error?: Error) => void,
  ): void;
  /** Data already read is still delivered. */
  pause(): void;
  resume(): void;
  ping(data: undefined, mask: undefined, sent: (error: Error) => void): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

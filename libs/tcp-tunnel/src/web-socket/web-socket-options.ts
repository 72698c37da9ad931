import { PROTOCOL_LIMITS } from '../wire/limits.js';

/** The options that a WebSocket of either end of a tunnel is made with. */
export interface TunnelWebSocketOptions {
  readonly perMessageDeflate: false;
  /** Bytes of one message; a longer one ends the connection with code 1009. */
  readonly maxPayload: number;
  /** Frames of one message; more end the connection with code 1008. */
  readonly maxFragments: number;
  /** Present only for a client that said its endpoint is local. */
  readonly generateMask?: (mask: Buffer) => void;
}

/** A peer that splits at 4 KiB needs 257 frames for the longest message. */
const MOST_FRAGMENTS = 1024;

/**
 * Options for `new WebSocketServer({ noServer: true, ...webSocketServerOptions() })`: no compression, bounded messages,
 * bounded frames in a message.
 */
export function webSocketServerOptions(): TunnelWebSocketOptions {
  return {
    perMessageDeflate: false,
    maxPayload: PROTOCOL_LIMITS.messageBytes,
    maxFragments: MOST_FRAGMENTS,
  };
}

/**
 * Options for `new WebSocket(url, webSocketClientOptions(…))`. With `localEndpoint` (default false) frames carry a mask
 * of zeros, which is several times faster. Use it on a pipe or a Unix socket only: on a network the unpredictable mask
 * protects intermediaries.
 */
export function webSocketClientOptions(
  options: { readonly localEndpoint?: boolean } = {},
): TunnelWebSocketOptions {
  const shared = webSocketServerOptions();
  return options.localEndpoint === true
    ? { ...shared, generateMask: (mask) => mask.fill(0) }
    : shared;
}

/**
 * WebSocket as a tunnel needs it. That of the package `ws` is one; it is described here so that users need no types
 * but these.
 */
export interface TunnelWebSocket {
  /** 1 when it is open. */
  readonly readyState: number;
  /** Bytes that were given to `send` and have not left yet. */
  readonly bufferedAmount: number;
  /** Set to `nodebuffer`: a message is one Buffer. */
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
  /** Stops to read, and reads again. What was read already still comes as messages. */
  pause(): void;
  resume(): void;
  ping(data: undefined, mask: undefined, sent: (error: Error) => void): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

/**
 * What a tunnel needs of a WebSocket. That of the package `ws` is one; it is described here so that users need no types
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

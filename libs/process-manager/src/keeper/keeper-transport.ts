import type { Socket } from 'node:net';

/** Connects managers with keepers, out of reach of other accounts. */
export interface KeeperTransport {
  /** Returns the address of a new keeper. Default: a socket in its state folder, which is private. */
  readonly newAddress?: (() => string) | undefined;
  listen(
    address: string,
    onConnection: (socket: Socket) => unknown,
  ): Promise<{ close(): Promise<void> }>;
  /**
   * @param keeper - Process that must serve the address, in the form of `ProcessHost.daemon`.
   * @throws Error; with the code `securityUnavailable` if another process may serve the address.
   */
  connect(address: string, keeper: string): Promise<Socket>;
}

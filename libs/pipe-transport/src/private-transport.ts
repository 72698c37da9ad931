import type { IdentifyClient, PipeSecurity, PipeServerCheck } from '@wins/base';
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { connectPipe } from './connect-pipe.js';
import { listenPipe } from './listen-pipe.js';

/** Options of {@link privateTransport}. The default, without any, suits a POSIX system with a private state folder. */
export interface PrivateTransportOptions {
  /** Access to the pipes of Windows: `windowsKeepers()` of `@wins/windows-host`. Default: sockets, which need a private folder. */
  readonly security?: PipeSecurity | undefined;
  /** If given, only administrators are served. Default: everyone who reaches the address. */
  readonly identify?: IdentifyClient | undefined;
  /** Returns a check that a process serves the address. Default: any server is trusted. */
  readonly serverCheck?: ((process: string) => PipeServerCheck) | undefined;
}

/** Serves and connects pipes or sockets between the processes of one program. */
export interface PrivateTransport {
  /** Returns the name of a new pipe. Absent for sockets, whose address is a path. */
  readonly newAddress?: (() => string) | undefined;
  /** Serves at most 8 connections at once. @throws PipeError. */
  listen(
    address: string,
    onConnection: (socket: Socket) => unknown,
  ): Promise<{ close(): Promise<void> }>;
  /** @throws PipeError `securityUnavailable` if `process` does not serve the address. */
  connect(address: string, process: string): Promise<Socket>;
}

/** Connects the processes of one program, as keepers of runs need it. */
export function privateTransport({
  security,
  identify,
  serverCheck,
}: PrivateTransportOptions = {}): PrivateTransport {
  return {
    ...(security && { newAddress: () => `rancher_wins_keeper_${randomBytes(16).toString('hex')}` }),
    listen: (address, onConnection) =>
      listenPipe(address, {
        security,
        identify,
        maxConnections: 8,
        onConnection: (socket, client) => {
          if (identify === undefined || client.isAdministrator) return onConnection(socket);
          return socket.destroy();
        },
      }),
    connect: async (address, process) => connectPipe(address, { security: serverCheck?.(process) }),
  };
}

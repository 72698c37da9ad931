import { connectPipe, type ConnectPipeOptions } from '@wins/pipe-transport';
import type { Socket } from 'node:net';
import { loadWindowsClient } from './load-windows-client.js';

/** Connects to a pipe of the daemon. On Windows the server must be the service or privileged, as any process may claim a name first. */
export function connectTrustedPipe(
  pipe: string,
  options: Omit<ConnectPipeOptions, 'security'> = {},
): Promise<Socket> {
  const security =
    process.platform === 'win32' ? loadWindowsClient().windowsPipeCheck() : undefined;
  return connectPipe(pipe, { ...options, security });
}

import { connectPipe, type ConnectPipeOptions } from '@wins/pipe-transport';
import type { Socket } from 'node:net';
import { loadWindowsClient } from './load-windows-client.js';

/**
 * Connects to a pipe of the daemon; on Windows only to one whose server is the service or runs with privileges: the first
 * process to claim a pipe's name has it.
 *
 * @throws PipeError as `connectPipe` does.
 */
export function connectTrustedPipe(
  pipe: string,
  options: Omit<ConnectPipeOptions, 'security'> = {},
): Promise<Socket> {
  const security =
    process.platform === 'win32' ? loadWindowsClient().windowsPipeCheck() : undefined;
  return connectPipe(pipe, { ...options, security });
}

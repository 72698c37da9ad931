import { EXIT } from '@wins/base';
import { connectPipe, type ConnectPipeOptions, type PipeError } from '@wins/pipe-transport';
import type { Socket } from 'node:net';
import { CommandError } from '../command-error.js';
import { pipeCheck } from '../system/system-calls.js';

/** On Windows the pipe's server must be the daemon's service or a privileged process, because any process may claim a pipe name first. */
export function connectTrustedPipe(
  pipe: string,
  options: Omit<ConnectPipeOptions, 'security'> = {},
): Promise<Socket> {
  return connectPipe(pipe, { ...options, security: pipeCheck() });
}

export const ASK_DOCTOR = 'run "wins doctor" on the host to see why';

export function pipeFailure(error: PipeError): CommandError {
  const waits = error.code === 'notFound' ? '--wait-timeout waits for it; ' : '';
  return new CommandError(`${error.message} (${waits}${ASK_DOCTOR})`, EXIT.client.failed, {
    cause: error,
  });
}

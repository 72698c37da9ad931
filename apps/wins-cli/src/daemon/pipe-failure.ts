import type { PipeError } from '@wins/pipe-transport';
import { EXIT } from '@wins/base';
import { CommandError } from '../command-error.js';

export const ASK_DOCTOR = 'run "wins doctor" on the host to see why';

export function pipeFailure(error: PipeError): CommandError {
  const waits = error.code === 'notFound' ? '--wait-timeout waits for it; ' : '';
  return new CommandError(`${error.message} (${waits}${ASK_DOCTOR})`, EXIT.client.failed, {
    cause: error,
  });
}

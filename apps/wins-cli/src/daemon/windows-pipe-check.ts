import { type PipeServerCheck, SERVICE_NAME } from '@wins/base';
import { securedPipeClient } from '@wins/windows-host';

/** Returns a check that trusts the server of a pipe when it is the service or runs with privileges. */
export function windowsPipeCheck(): PipeServerCheck {
  return securedPipeClient({ service: SERVICE_NAME });
}

import { type PipeServerCheck, SERVICE_NAME } from '@wins/base';
import { securedPipeClient } from '@wins/windows-host';

/** Trusts who serves a pipe when that is the service or runs with privileges. */
export function windowsPipeCheck(): PipeServerCheck {
  return securedPipeClient({ service: SERVICE_NAME });
}

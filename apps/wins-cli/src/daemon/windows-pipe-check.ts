import type { PipeServerCheck } from '@wins/pipe-transport';
import { securedPipeClient } from '@wins/windows-host';
import { SERVICE_NAME } from '@wins/wins-program';

/** Trusts who serves a pipe when that is the service or runs with privileges. */
export function windowsPipeCheck(): PipeServerCheck {
  return securedPipeClient({ service: SERVICE_NAME });
}

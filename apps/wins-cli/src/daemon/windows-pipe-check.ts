import type { PipeServerCheck } from '@wins/pipe-transport';
import { securedPipeClient, serviceControlManager, WindowsError } from '@wins/windows-host';
import { SERVICE_NAME } from '@wins/wins-program';

/** Trusts who serves a pipe when that is the service or runs with privileges. */
export function windowsPipeCheck(): PipeServerCheck {
  return securedPipeClient({ servicePid });
}

function servicePid(): number | undefined {
  try {
    return serviceControlManager().status(SERVICE_NAME).pid;
  } catch (error) {
    // A container has no such service, and some have no service control manager that one may ask.
    if (error instanceof WindowsError) return undefined;
    throw error;
  }
}

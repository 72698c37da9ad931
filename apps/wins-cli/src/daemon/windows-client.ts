/** Windows-specific part of the client; a separate bundle that other systems never load. */

import { SERVICE_NAME, type PipeServerCheck } from '@wins/base';
import {
  listenToConsole,
  securedPipeClient,
  WindowsError,
  type ConsoleEvents,
} from '@wins/windows-host';

/** Returns a check that trusts the server of a pipe when it is the service or runs with privileges. */
export function windowsPipeCheck(): PipeServerCheck {
  return securedPipeClient({ service: SERVICE_NAME });
}

/** Listens for events of the Windows console. Returns undefined without such a console; only Node's signals are heard then. */
export function hearConsole(onEvent: () => void): ConsoleEvents | undefined {
  try {
    return listenToConsole(onEvent);
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'unavailable') return undefined;
    throw error;
  }
}

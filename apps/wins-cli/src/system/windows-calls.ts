import { SERVICE_NAME, type PipeServerCheck } from '@wins/base';
import {
  listenToConsole,
  securedPipeClient,
  WindowsError,
  type ConsoleEvents,
} from '@wins/windows-host';

/** Trusts a pipe's server if it is the service or runs with privileges. */
export function windowsPipeCheck(): PipeServerCheck {
  return securedPipeClient({ service: SERVICE_NAME });
}

/** Returns undefined without a Windows console. The caller then gets only Node's signals. */
export function hearConsole(onEvent: () => void): ConsoleEvents | undefined {
  try {
    return listenToConsole(onEvent);
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'unavailable') return undefined;
    throw error;
  }
}

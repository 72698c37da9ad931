import { listenToConsole, WindowsError, type ConsoleEvents } from '@wins/windows-host';

/** Hears what happens to the console of Windows; where there is no such console, what Node hears is all. */
export function hearConsole(onEvent: () => void): ConsoleEvents | undefined {
  try {
    return listenToConsole(onEvent);
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'unavailable') return undefined;
    throw error;
  }
}

import { listenToConsole, WindowsError, type ConsoleEvents } from '@wins/windows-host';

/** Listens for events of the Windows console. Without such a console, returns undefined and the signals of Node must suffice. */
export function hearConsole(onEvent: () => void): ConsoleEvents | undefined {
  try {
    return listenToConsole(onEvent);
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'unavailable') return undefined;
    throw error;
  }
}

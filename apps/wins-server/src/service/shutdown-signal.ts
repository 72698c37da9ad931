import {
  listenToConsole,
  WindowsError,
  type ConsoleEvent,
  type ConsoleEvents,
  type ServiceStopReason,
} from '@wins/windows-host';

/** On Windows these are Ctrl-C, nothing, Ctrl-Break and a console that is closed, when Node hears them first. */
const SIGNALS: readonly NodeJS.Signals[] =
  process.platform === 'win32'
    ? ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP']
    : ['SIGINT', 'SIGTERM'];

/** Why the daemon ends. */
export type ShutdownRequest =
  | { readonly signal: NodeJS.Signals }
  /** The service control manager asks, or the console of Windows. */
  | { readonly control: ServiceStopReason | ConsoleEvent }
  /** A defect: nobody caught this. What runs is stopped in order before the daemon ends. */
  | { readonly error: unknown };

/** Hears what ends a daemon. */
export interface ShutdownSignal extends Disposable {
  /** Resolves with the first request; later ones change nothing. */
  readonly requested: Promise<ShutdownRequest>;
}

/**
 * Starts to listen for the signals that ask to end, and for errors that nobody caught; disposing it gives them back
 * to Node.
 *
 * @param place - At a terminal, also for what happens to the console of Windows. A service does not: it goes on when
 *   somebody logs off.
 */
export function listenForShutdown(place: 'terminal' | 'service' = 'terminal'): ShutdownSignal {
  let request: (request: ShutdownRequest) => void = () => undefined;
  const requested = new Promise<ShutdownRequest>((resolve) => {
    request = resolve;
  });
  const onSignal = (signal: NodeJS.Signals): void => request({ signal });
  const onError = (error: unknown): void => request({ error });
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on('uncaughtException', onError);
  const atConsole = place === 'terminal' && process.platform === 'win32';
  const console = atConsole ? hearConsole((control) => request({ control })) : undefined;
  return {
    requested,
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      process.off('uncaughtException', onError);
      console?.close();
    },
  };
}

/** Where there is no such console, what Node hears is all. */
function hearConsole(onEvent: (event: ConsoleEvent) => void): ConsoleEvents | undefined {
  try {
    return listenToConsole(onEvent);
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'unavailable') return undefined;
    throw error;
  }
}

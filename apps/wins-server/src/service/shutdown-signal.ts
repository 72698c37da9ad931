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

export type ShutdownRequest =
  | { readonly signal: NodeJS.Signals }
  /** The service control manager asks, or the console of Windows. */
  | { readonly control: ServiceStopReason | ConsoleEvent }
  /** An uncaught error, which is a defect. The daemon still stops its runs in order. */
  | { readonly error: unknown };

export interface ShutdownSignal extends Disposable {
  /** Resolves with the first request; later ones change nothing. */
  readonly requested: Promise<ShutdownRequest>;
}

/**
 * Listens for signals that end the daemon, and for uncaught errors, until it is disposed.
 *
 * @param place - A service does not hear the console of Windows: it goes on when a user logs off.
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

/** Without such a console the signals of Node are all there is. */
function hearConsole(onEvent: (event: ConsoleEvent) => void): ConsoleEvents | undefined {
  try {
    return listenToConsole(onEvent);
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'unavailable') return undefined;
    throw error;
  }
}

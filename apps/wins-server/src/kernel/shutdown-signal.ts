import {
  listenToConsole,
  WindowsError,
  type ConsoleEvent,
  type ConsoleEvents,
  type ServiceStopReason,
} from '@wins/windows-host';

/** On Windows, Node raises SIGINT for Ctrl-C, SIGBREAK for Ctrl-Break, and SIGHUP for a closed console. */
const SIGNALS: readonly NodeJS.Signals[] =
  process.platform === 'win32'
    ? ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP']
    : ['SIGINT', 'SIGTERM'];

export type ShutdownRequest =
  | { readonly signal: NodeJS.Signals }
  /** From the service control manager or the Windows console. */
  | { readonly control: ServiceStopReason | ConsoleEvent }
  /** Uncaught error, which is a defect. The daemon still stops its runs properly. */
  | { readonly error: unknown };

export interface ShutdownSignal extends Disposable {
  /** The first request; later ones have no effect. */
  readonly requested: Promise<ShutdownRequest>;
}

/** Listens until disposal. A service ignores the Windows console, so that it survives a log-off. */
export function listenForShutdown(context: 'terminal' | 'service' = 'terminal'): ShutdownSignal {
  let request: (request: ShutdownRequest) => void = () => undefined;
  const requested = new Promise<ShutdownRequest>((resolve) => {
    request = resolve;
  });
  const onSignal = (signal: NodeJS.Signals): void => request({ signal });
  const onError = (error: unknown): void => request({ error });
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on('uncaughtException', onError);
  const atConsole = context === 'terminal' && process.platform === 'win32';
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

/** Without a Windows console, only Node's signals end the daemon. */
function hearConsole(onEvent: (event: ConsoleEvent) => void): ConsoleEvents | undefined {
  try {
    return listenToConsole(onEvent);
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'unavailable') return undefined;
    throw error;
  }
}

/** Requests a reload. Undefined on Windows, where Node reports a closed console as SIGHUP. */
const SIGNAL: NodeJS.Signals | undefined = process.platform === 'win32' ? undefined : 'SIGHUP';

export function listenForReload(requested: () => void): Disposable {
  if (SIGNAL === undefined) return { [Symbol.dispose]: () => undefined };
  process.on(SIGNAL, requested);
  return { [Symbol.dispose]: () => void process.off(SIGNAL, requested) };
}

import type { ServiceStopReason } from '@wins/windows-host';

/** On Windows these are Ctrl-C, nothing, Ctrl-Break and a console that is closed. */
const SIGNALS: readonly NodeJS.Signals[] =
  process.platform === 'win32'
    ? ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP']
    : ['SIGINT', 'SIGTERM'];

/** Why the daemon ends. */
export type ShutdownRequest =
  | { readonly signal: NodeJS.Signals }
  /** The service control manager asks. */
  | { readonly control: ServiceStopReason }
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
 */
export function listenForShutdown(): ShutdownSignal {
  let request: (request: ShutdownRequest) => void = () => undefined;
  const requested = new Promise<ShutdownRequest>((resolve) => {
    request = resolve;
  });
  const onSignal = (signal: NodeJS.Signals): void => request({ signal });
  const onError = (error: unknown): void => request({ error });
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on('uncaughtException', onError);
  return {
    requested,
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      process.off('uncaughtException', onError);
    },
  };
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Why the daemon was asked to end. */
export interface ShutdownRequest {
  readonly signal: string;
}

/** Hears the signals that end a daemon. */
export interface ShutdownSignal extends Disposable {
  /** Resolves with the first request; later ones change nothing. */
  readonly requested: Promise<ShutdownRequest>;
}

/** Starts to listen for SIGINT and SIGTERM; disposing it gives them back to Node. */
export function listenForShutdown(): ShutdownSignal {
  let request: (request: ShutdownRequest) => void = () => undefined;
  const requested = new Promise<ShutdownRequest>((resolve) => {
    request = resolve;
  });
  const listeners = SIGNALS.map((signal) => {
    const listener = (): void => request({ signal });
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return {
    requested,
    [Symbol.dispose]: () => {
      for (const remove of listeners) remove();
    },
  };
}

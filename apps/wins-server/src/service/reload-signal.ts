/** On Windows Node hears it when a console is closed, which ends the daemon. */
const SIGNAL: NodeJS.Signals | undefined = process.platform === 'win32' ? undefined : 'SIGHUP';

/** Listens for the signal that asks a daemon to read its config again, until it is disposed. */
export function listenForReload(requested: () => void): Disposable {
  if (SIGNAL === undefined) return { [Symbol.dispose]: () => undefined };
  process.on(SIGNAL, requested);
  return { [Symbol.dispose]: () => void process.off(SIGNAL, requested) };
}

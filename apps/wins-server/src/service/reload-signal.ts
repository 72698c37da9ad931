/** Signal that requests a reload. Unused on Windows, where Node reports a closed console as SIGHUP, which ends the daemon. */
const SIGNAL: NodeJS.Signals | undefined = process.platform === 'win32' ? undefined : 'SIGHUP';

export function listenForReload(requested: () => void): Disposable {
  if (SIGNAL === undefined) return { [Symbol.dispose]: () => undefined };
  process.on(SIGNAL, requested);
  return { [Symbol.dispose]: () => void process.off(SIGNAL, requested) };
}

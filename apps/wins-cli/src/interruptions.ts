import { EXIT } from '@wins/base';
import { loadWindowsClient } from './daemon/load-windows-client.js';

/** On Windows these are Ctrl-C, Ctrl-Break and a console that is closed. */
const SIGNALS: readonly NodeJS.Signals[] =
  process.platform === 'win32' ? ['SIGINT', 'SIGBREAK', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];

/**
 * Hears that this program is to end; stopping a Windows container too, of which Node tells nothing. The first time `onFirst` is called, for an
 * orderly end; the second time `onSecond`, by default the end of this process; the third time it ends whatever happens.
 */
export function listenForInterruptions(
  onFirst: () => void,
  onSecond: () => void = leaveAtOnce,
): Disposable {
  let count = 0;
  const interrupt = (): void => {
    count += 1;
    if (count === 1) onFirst();
    else if (count === 2) onSecond();
    else leaveAtOnce();
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  const console =
    process.platform === 'win32' ? loadWindowsClient().hearConsole(interrupt) : undefined;
  return {
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, interrupt);
      console?.close();
    },
  };
}

/** Ends this process without waiting for anything. */
export function leaveAtOnce(): never {
  process.exit(EXIT.client.interrupted);
}

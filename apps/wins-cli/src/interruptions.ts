import { EXIT } from '@wins/base';
import { hearConsole } from './system/system-calls.js';

/** On Windows, Node emits these signals for Ctrl-C, Ctrl-Break and a closed console. */
const SIGNALS: readonly NodeJS.Signals[] =
  process.platform === 'win32' ? ['SIGINT', 'SIGBREAK', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];

/**
 * Listens for events that tell this program to end, such as Ctrl-C or the stop of its Windows container. The first event calls `onFirst`, and the
 * second calls `onSecond`. Each later event exits at once.
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
  const console = hearConsole(interrupt);
  return {
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, interrupt);
      console?.close();
    },
  };
}

export function leaveAtOnce(): never {
  process.exit(EXIT.client.interrupted);
}

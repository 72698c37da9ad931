import { escapeText } from '@wins/wins-program';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Tells people on standard error what went wrong. */
export function complain(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/** Text that may quote others, fit for a terminal line by line. */
export function printable(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeText(line))
    .join('\n');
}

/** Takes the signals that would end this process, until it is disposed. */
export function onSignals(listener: (signal: NodeJS.Signals) => void): Disposable {
  for (const signal of SIGNALS) process.on(signal, listener);
  return {
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, listener);
    },
  };
}

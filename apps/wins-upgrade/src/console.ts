import { escapeText, EXIT, type Answer, type Show } from '@wins/base';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Prints an error message to standard error. */
export function complain(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/** Prints a completed step to standard error, one line each, even without a terminal. */
export function tickOff(step: string): void {
  process.stderr.write(`wins: ✓ ${escapeText(step)}\n`);
}

/** Output functions of a command. */
export interface Telling {
  readonly show: Show;
  readonly output?: string | undefined;
  readonly quiet?: boolean | undefined;
}

export function isForPeople({ output = 'text' }: Pick<Telling, 'output'>): boolean {
  return output === 'text';
}

/** Prints the result: the value for programs, the text for people. Text about a failure goes to standard error. */
export async function tell(
  telling: Telling,
  exitCode: number,
  { text = '', ...answer }: Answer,
): Promise<number> {
  if (!isForPeople(telling)) await telling.show(answer);
  else if (telling.quiet === true) return exitCode;
  else if (exitCode === EXIT.upgrade.ok)
    await telling.show({ ...answer, text: `${printable(text)}\n` });
  else complain(text);
  return exitCode;
}

/** Returns text that may quote foreign input in a form that is safe for a terminal, line by line. */
function printable(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeText(line))
    .join('\n');
}

/** Intercepts the signals that would end this process, until disposal. */
export function onSignals(listener: (signal: NodeJS.Signals) => void): Disposable {
  for (const signal of SIGNALS) process.on(signal, listener);
  return {
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, listener);
    },
  };
}

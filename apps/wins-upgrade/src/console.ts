import { escapeText, EXIT, type Answer, type Show } from '@wins/base';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Tells people on standard error what went wrong. */
export function complain(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/** Tells people on standard error that a step is done; also without a terminal, a line each. */
export function tickOff(step: string): void {
  process.stderr.write(`wins: ✓ ${escapeText(step)}\n`);
}

/** How a command says what it came to. */
export interface Telling {
  readonly show: Show;
  readonly output?: string | undefined;
  readonly quiet?: boolean | undefined;
}

export function isForPeople({ output = 'text' }: Pick<Telling, 'output'>): boolean {
  return output === 'text';
}

/** Tells programs the value, and people the text: on standard error what is no success. */
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

/** Text that may quote others, fit for a terminal line by line. */
function printable(text: string): string {
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

import { escapeText, EXIT, type Answer, type Show } from '@wins/base';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function complain(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

export function tickOff(step: string): void {
  process.stderr.write(`wins: ✓ ${escapeText(step)}\n`);
}

export interface Telling {
  readonly show: Show;
  readonly output?: string | undefined;
  readonly quiet?: boolean | undefined;
}

export function isForPeople({ output = 'text' }: Pick<Telling, 'output'>): boolean {
  return output === 'text';
}

/** Prints the value for programs, or the text for people. After a failure, the text goes to standard error. */
export async function tell(telling: Telling, exitCode: number, { text = '', ...answer }: Answer) {
  if (!isForPeople(telling)) await telling.show(answer);
  else if (telling.quiet === true) return exitCode;
  else if (exitCode === EXIT.upgrade.ok)
    await telling.show({ ...answer, text: `${printable(text)}\n` });
  else complain(text);
  return exitCode;
}

/** Escapes each line, which may quote untrusted input. */
function printable(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeText(line))
    .join('\n');
}

export function onSignals(listener: (signal: NodeJS.Signals) => void): Disposable {
  for (const signal of SIGNALS) process.on(signal, listener);
  return {
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, listener);
    },
  };
}
